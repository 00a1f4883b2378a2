"""The engines that run inside their client's process: Kuzu, DuckDB (worker.py) and Neo4j
(java/NeoWorker.java). All three speak the same lines of JSON."""
import json
import os
import re
import shutil
import subprocess
import time

import fetch
from peer import (GRACE_SECONDS, LOAD_SECONDS, OPEN_SECONDS, Gone, LineProcess, Peer, PeerError,
                  Reply, TimedOut)

HERE = os.path.dirname(os.path.abspath(__file__))
HEAP_BYTES = 4 << 30


class Embedded(Peer):
    """What is timed is the call in the engine's own process."""

    def command(self):
        raise NotImplementedError

    def _send(self, wait, **request):
        try:
            answer = json.loads(self.process.ask(json.dumps(request), wait))
        except (TimedOut, Gone):
            self.process = None
            raise
        if "error" in answer:
            if re.search("[Ii]nterrupt|terminated|[Tt]imeout", answer["error"]):
                raise TimedOut(answer["error"])
            raise PeerError(answer["error"])
        return answer

    def _start(self):
        self.close()
        self.process = LineProcess(self.command(), self.options.memory_bytes, self.log)

    def load(self):
        self._start()
        try:
            return self._send(LOAD_SECONDS, do="load", spec=self.data.spec,
                              path=self.folder)["seconds"]
        finally:
            self.close()

    def open(self):
        self._start()
        self._send(OPEN_SECONDS, do="open", spec=self.data.spec, path=self.folder,
                   memory_bytes=HEAP_BYTES)

    def ask(self, text, parameters, seconds):
        if self.process is None:
            self.open()
        answer = self._send(seconds + GRACE_SECONDS, do="timed", text=text, parameters=parameters,
                            timeout=seconds)
        return Reply(answer["rows"], answer["seconds"])

    def work(self, kind, connections, seconds):
        if kind != "read":
            return None
        if self.process is None:
            self.open()
        return self._send(seconds + 30, do="read_points", connections=connections, seconds=seconds,
                          vertices=1 << self.data.scale)


class Kuzu(Embedded):
    name, language = "kuzu", "cypher"

    def command(self):
        return [fetch.python_of("kuzu"), os.path.join(HERE, "worker.py"), "kuzu"]


class DuckDb(Embedded):
    name, language = "duckdb", "sql"

    def command(self):
        return [fetch.python_of("duckdb"), os.path.join(HERE, "worker.py"), "duckdb"]


class Neo4j(Embedded):
    name, language = "neo4j", "neo4j"

    def _java(self, *words):
        path = fetch.compiled_java("neo4j", os.path.join(HERE, "java", "NeoWorker.java"))
        return ["java", "-Xmx%d" % HEAP_BYTES, "--add-opens=java.base/java.nio=ALL-UNNAMED",
                "--add-opens=java.base/java.lang=ALL-UNNAMED", "-cp", path, *words]

    def command(self):
        return self._java("NeoWorker")

    def load(self):
        """With Neo4j's own import tool; its quote is a character that is in no file."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(os.path.join(self.folder, "conf"))
        spec, quote = self.data.spec, '"' if self.data.kind == "rmat" else "\x01"
        words = ["--nodes=%s=%s" % (x["label"], x["file"]) for x in spec["nodes"]]
        words += ["--relationships=%s=%s" % (x["type"], x["file"]) for x in spec["edges"]]
        started = time.monotonic()
        done = subprocess.run(
            self._java("org.neo4j.cli.AdminTool", "database", "import", "full", "neo4j",
                       "--id-type=integer", "--delimiter=" + spec["delimiter"],
                       "--quote=" + quote, *words),
            env=dict(os.environ, NEO4J_HOME=self.folder,
                     NEO4J_CONF=os.path.join(self.folder, "conf")), cwd=self.folder,
            capture_output=True, text=True, check=False, timeout=LOAD_SECONDS)
        if done.returncode != 0:
            raise PeerError("the import failed: " + (done.stderr or done.stdout)[-300:])
        seconds = time.monotonic() - started
        self.open()
        self._send(LOAD_SECONDS, do="index", labels=[x["label"] for x in spec["nodes"]])
        self.close()
        return seconds

    def work(self, kind, connections, seconds):
        if kind == "read":
            return super().work(kind, connections, seconds)
        if self.process is None:
            self.open()
        try:
            return self._send(seconds + 60, do="commit", connections=connections, seconds=seconds,
                              path=self.folder + "-commits")
        finally:
            self.close()
