"""TinkerGraph in Gremlin Server, asked over WebSocket with Koios' own texts. It is loaded by the
server when it starts (java/tinkergraph.groovy), as it is in memory only."""
import concurrent.futures
import logging
import os
import random
import re
import socket
import subprocess
import time
import warnings

import fetch
from peer import (GRACE_SECONDS, LOAD_SECONDS, Gone, Peer, PeerError, Reply, TimedOut, Watch,
                  kill, tied)

HERE = os.path.dirname(os.path.abspath(__file__))
HEAP_GIB = 4
ROWS_THAT_FIT = 6_000_000  # vertices and edges, in that heap
PACKAGES = ("lang", "lang.invoke", "util", "util.concurrent", "util.concurrent.atomic", "net",
            "nio", "math", "time")
_GRAPH = """gremlin.graph=org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerGraph
gremlin.tinkergraph.vertexIdManager=LONG
gremlin.tinkergraph.edgeIdManager=LONG
"""
_SERVER = """host: 127.0.0.1
port: %(port)d
evaluationTimeout: 600000
graphs: { graph: %(folder)s/graph.properties }
scriptEngines: {
  gremlin-lang: {},
  gremlin-groovy: {
    plugins: {
      org.apache.tinkerpop.gremlin.server.jsr223.GremlinServerGremlinPlugin: {},
      org.apache.tinkerpop.gremlin.tinkergraph.jsr223.TinkerGraphGremlinPlugin: {},
      org.apache.tinkerpop.gremlin.jsr223.ScriptFileGremlinPlugin: {files: [%(script)s]}}}}
serializers:
  - { className: org.apache.tinkerpop.gremlin.util.ser.GraphBinaryMessageSerializerV1 }
gremlinPool: 2
idleConnectionTimeout: 0
keepAliveInterval: 0
maxContentLength: 10485760
resultIterationBatchSize: 1000
"""


def _longs(x):
    """Integers as the 64-bit ones that the ids are: an index knows its own type only."""
    from gremlin_python.statics import long
    if isinstance(x, dict):
        return {name: _longs(value) for name, value in x.items()}
    if isinstance(x, list):
        return [_longs(value) for value in x]
    return long(x) if isinstance(x, int) else x


def _literal(x):
    if isinstance(x, list):
        return "[%s]" % ",".join(_literal(value) for value in x)
    return "%dL" % x if isinstance(x, int) else "'%s'" % x.replace("'", "\\'")


def _pasted(text, parameters):
    """The text with the parameters in it; words in quotes stay."""
    return re.sub(r"'[^']*'|\b[A-Za-z_]\w*\b", lambda m: _literal(parameters[m.group()])
                  if m.group() in parameters else m.group(), text)


class TinkerGraph(Peer):
    name, language = "tinkergraph", "gremlin"
    survives = False
    prefix = ()  # a command that runs the one behind it
    java = ("-Xmx%dg" % HEAP_GIB, "-XX:+ExitOnOutOfMemoryError")
    load_seconds = LOAD_SECONDS
    rows_that_fit = ROWS_THAT_FIT

    def __init__(self, data, options):
        super().__init__(data, options)
        self.process = self.watch = self.client = None
        self.port = 0
        self.without_variables = set()  # texts with a variable where the server's grammar has none

    def load(self):
        """The server's start and the load are one."""
        if self.data.num_rows() > self.rows_that_fit:
            raise PeerError("a heap of %d GiB does not hold so many vertices and edges" % HEAP_GIB)
        self.open()
        with open(self.log, encoding="utf-8", errors="replace") as f:
            took = re.findall(r"loaded in ([\d.E-]+)", f.read())
        if not took:
            self.close()
            raise PeerError("not loaded, see %s" % os.path.basename(self.log))
        return float(took[-1])

    def open(self):
        if self.process is not None:
            self._connect()
            return
        jars = fetch.jars_of("tinkergraph")
        os.makedirs(self.folder, exist_ok=True)
        self.port = random.SystemRandom().randint(20000, 50000)
        script = os.path.join(HERE, "java", "tinkergraph.groovy")
        for name, text in (("graph.properties", _GRAPH), ("server.yaml", _SERVER % {
                "port": self.port, "folder": self.folder, "script": script})):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        opens = ["--add-opens=java.base/java.%s=ALL-UNNAMED" % x for x in PACKAGES]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                tied([*self.prefix, "java", *self.java, *opens,
                      "-Dcompare.spec=" + self.data.csv("spec.json"),
                      "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp",
                      os.path.join(jars, "*"),
                      "org.apache.tinkerpop.gremlin.server.GremlinServer",
                      os.path.join(self.folder, "server.yaml")]),
                stdout=log, stderr=log, cwd=self.folder)
        self.watch = Watch(self.process, self.options.memory_bytes)
        self._connect()

    def _connect(self):
        from gremlin_python.driver.client import Client
        if self.client is not None:
            return
        warnings.filterwarnings("ignore")
        logging.getLogger("gremlinpython").setLevel(logging.CRITICAL)
        end = time.monotonic() + self.load_seconds
        while self.process.poll() is None and time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    self.client = Client("ws://127.0.0.1:%d/gremlin" % self.port, "g",
                                         pool_size=1)
                    return
            time.sleep(0.2)
        self.close()
        raise PeerError("the server did not start, see %s" % os.path.basename(self.log))

    def ask(self, text, parameters, seconds):
        text = re.sub(r"(?m)^//.*$", "", text)
        if text in self.without_variables:
            return self._submit(_pasted(text, parameters), {}, seconds)
        try:
            return self._submit(text, parameters, seconds)
        except PeerError as e:
            if "parsing failed" not in str(e):
                raise
        self.without_variables.add(text)
        return self._submit(_pasted(text, parameters), {}, seconds)

    def _submit(self, text, parameters, seconds):
        from gremlin_python.driver.protocol import GremlinServerError
        self.open()
        options = {"evaluationTimeout": int(seconds * 1000), "language": "gremlin-lang"}
        started = time.perf_counter()
        try:
            rows = self.client.submit(text, bindings=_longs(parameters) or None,
                                      request_options=options).all().result(seconds + GRACE_SECONDS)
        except GremlinServerError as e:
            if e.status_code == 598 or "imeout" in (e.status_message or ""):
                raise TimedOut("no answer in time") from None
            raise PeerError(e.status_message) from None
        except concurrent.futures.TimeoutError:
            self.close()
            raise TimedOut("no answer in time") from None
        except Exception as e:  # pylint: disable=broad-except
            if self.process.poll() is None:
                self._disconnect()
                raise PeerError(str(e)) from None
            self.close()
            raise Gone("out of memory") from None
        return Reply(rows, time.perf_counter() - started)

    def pid(self):
        return self.process.pid if self.process else None

    def close(self):
        """A client whose server is gone first hangs when it is closed, so it goes before."""
        self._disconnect()
        if self.process is not None:
            kill(self.process)
        self.process = None

    def _disconnect(self):
        if self.client is not None:
            try:
                self.client.close()
            except Exception:  # pylint: disable=broad-except
                pass
        self.client = None
