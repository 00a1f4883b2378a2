"""Koios: `koios serve` on the loaded folder, asked over gRPC. The time is that of a request from
C++ (koios_connections), until the last message is there; the answer that is compared is that of the
same request from Python, with as many rows. What the summary says that it took is told too."""
import json
import os
import shutil
import subprocess
import time

import grpc
from driver import environment
from driver.client import Client, value_of
from driver.server import DataFolder, Server
from peer import (GRACE_SECONDS, LOAD_SECONDS, Gone, LineProcess, Peer, PeerError, Reply, TimedOut,
                  Watch, tied)
from proto import service_pb2

_MEMBERS = ("longs", "ints", "doubles", "bools", "strings")


def plain(value):
    """The value of a row in Python's own."""
    kind = value.WhichOneof("kind")
    if kind == "map_value":
        return {plain(e.key): plain(e.value) for e in value.map_value.entries}
    if kind in ("list_value", "set_value"):
        return [plain(x) for x in getattr(value, kind).items]
    return None if kind == "null" else getattr(value, kind)


def rows_of(batch):
    column = batch.WhichOneof("column")
    if column is None:
        return []
    if column in _MEMBERS:
        rows = list(getattr(batch, column).values)
    else:
        rows = [plain(x) for x in getattr(batch, column).items]
    if batch.bulk:
        rows = [row for row, bulk in zip(rows, batch.bulk) for _ in range(bulk)]
    return rows


def _literal(x):
    if isinstance(x, list):
        return "[%s]" % ",".join(_literal(value) for value in x)
    if isinstance(x, int):
        return "%d" % x if -2**31 <= x < 2**31 else "%dL" % x
    return "'%s'" % x.replace("\\", "\\\\").replace("'", "\\'")


class _Folder:
    """What driver.server.Server asks of a data folder."""

    def __init__(self, binary, path, folder):
        self.binary, self.path, self._folder = binary, path, folder

    def file(self, name):
        return os.path.join(self._folder, "koios-" + name)


class Koios(Peer):
    name = "koios"
    language = "gremlin"
    workers = 0  # one per processor

    def __init__(self, data, options):
        super().__init__(data, options)
        self.folder = os.path.join(data.folder, "koios")
        self.server = self.client = self.watch = self.asker = None

    def load(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        command = [self.options.koios, "import", "--data", self.folder, "--progress", "none"]
        if self.data.kind == "rmat":
            command += ["--nodes", "node=" + self.data.csv("vertices.csv"),
                        "--edges", "link=" + self.data.csv("edges.csv")]
        else:
            command += ["--nodes", self.data.source, "--edges", self.data.source, "--mapping",
                        os.path.join(environment.PROJECT, "import", "mappings", "ldbc-snb.yaml")]
        started = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=LOAD_SECONDS)
        if done.returncode != 0:
            raise PeerError("the import failed: " + done.stderr[-300:])
        return time.monotonic() - started

    def beginnings(self, cases):
        """What koios_planning tells of the graph and of each case with its first parameters."""
        lines = [json.dumps({"name": x.key, "text": x.text, "parameters": x.runs[0][0]})
                 for x in cases if x.runs]
        done = subprocess.run([self.options.planning, self.folder], input="\n".join(lines),
                              capture_output=True, text=True, check=False, timeout=LOAD_SECONDS)
        if done.returncode != 0:
            raise PeerError("koios_planning: " + done.stderr[-300:])
        return json.loads(done.stdout)

    def open(self):
        self.close()
        self._serve(self.folder)

    def _serve(self, path):
        folder = _Folder(self.options.koios, path, self.data.folder)
        try:
            self.server = Server(folder, self.workers, prefix=tied([]))
        except SystemExit as e:
            raise PeerError(str(e)) from None
        self.watch = Watch(self.server.process, self.options.memory_bytes)
        self.client = Client(self.server.address)
        if self.options.connections:
            self.asker = LineProcess([self.options.connections, "ask", self.server.address],
                                     self.options.memory_bytes, self.log)

    def ask(self, text, parameters, seconds):
        if self.server is None:
            self.open()
        timed = self._timed(text, parameters, seconds) if self.asker else None
        reply = self._submit(text, parameters, seconds)
        if timed is None:
            return reply
        if timed[2] != len(reply.rows):
            raise PeerError("the client in C++ had %d rows" % timed[2])
        return Reply(reply.rows, timed[0], timed[1])

    def _timed(self, text, parameters, seconds):
        """Seconds, the engine's seconds, rows."""
        line = "%d\t%s" % (1000 * seconds, text.replace("\n", "\x1e"))
        line += "".join("\t%s=%s" % (name, _literal(x)) for name, x in parameters.items())
        try:
            words = self.asker.ask(line, seconds + GRACE_SECONDS).split(" ")
        except PeerError:
            self.close()
            raise
        if words[0] != "error":
            return float(words[0]), float(words[1]), int(words[2])
        self._fail(words[1], " ".join(words[2:]))

    def _submit(self, text, parameters, seconds, profile=False):
        request = service_pb2.SubmitRequest(query=text, timeout_ms=int(seconds * 1000),
                                            mode=service_pb2.PROFILE if profile else 0)
        for name, x in parameters.items():
            request.parameters[name].CopyFrom(value_of(x))
        batches, summary = [], None
        started = time.perf_counter()
        try:
            for message in self.client.stub.Submit(request, timeout=seconds + GRACE_SECONDS):
                if message.HasField("batch"):
                    batches.append(message.batch)
                else:
                    summary = message.summary
            took = time.perf_counter() - started
        except grpc.RpcError as e:
            self._fail(e.code().name, e.details())
        if profile:
            return summary
        return Reply([row for batch in batches for row in rows_of(batch)], took,
                     summary.elapsed_us / 1e6)

    def _fail(self, code, text):
        if code == "DEADLINE_EXCEEDED":
            raise TimedOut("no answer in time")
        if self.server.process.poll() is not None:
            reason = "out of memory" if self.watch.exceeded else "it ended"
            self.close()
            raise Gone(reason)
        raise PeerError("%s %s" % (code, text))

    def rows_touched(self, text, parameters, seconds):
        """What all operators handed out, as profile() tells it."""
        summary = self._submit(text, parameters, seconds, profile=True)
        return sum(x.rows_out for x in summary.profile)

    def work(self, kind, connections, seconds):
        """By koios_connections; commits on an empty graph of their own."""
        if not self.options.connections:
            return None
        try:
            if kind == "commit":
                self.close()
                with DataFolder(self.options.koios) as data:
                    self._serve(data.path)
                    try:
                        return self._connections("commit", connections, seconds)
                    finally:
                        self.close()
            if self.server is None:
                self.open()
            return self._connections("read", connections, seconds, str(1 << self.data.scale))
        except subprocess.SubprocessError as e:
            raise PeerError(str(e)) from None

    def _connections(self, kind, connections, seconds, *more):
        return run_connections(self.options.connections, kind, self.server.address, connections,
                               seconds, *more)

    def pid(self):
        return self.server.process.pid if self.server else None

    def close(self):
        if self.client is not None:
            self.client.close()
        if self.asker is not None:
            self.asker.close()
        if self.server is not None:
            self.server.stop()
        self.server = self.client = self.asker = None


class KoiosOneWorker(Koios):
    name = "koios1"
    workers = 1

    def loaded(self):
        return {}


def run_connections(program, kind, place, connections, seconds, *more):
    done = subprocess.run([program, kind, place, str(connections), str(seconds), *more],
                          capture_output=True, text=True, check=False, timeout=seconds + 60)
    if done.returncode != 0:
        raise PeerError(done.stderr.strip()[:300])
    rate, median, p95 = (float(x) for x in done.stdout.split())
    return {"rate": rate, "median": median / 1e6, "p95": p95 / 1e6}
