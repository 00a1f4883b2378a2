"""The limit: koios_limit, loops written by hand, with one or two threads; rmat graphs only."""
import os
import shutil
import tempfile

from data import BUCKETS
from koios import run_connections
from peer import OPEN_SECONDS, LineProcess, Peer, PeerError, Reply


class Limit(Peer):
    name, language = "limit1", "limit"
    threads = 1

    def __init__(self, data, options):
        super().__init__(data, options)
        self.facts = {}

    def loaded(self):
        return {}

    def load(self):
        raise PeerError("it loads when it opens")

    def open(self):
        self.close()
        self.process = LineProcess(
            [self.options.limit, self.data.csv("edges.csv"), str(BUCKETS),
             str(1 << self.data.scale)], self.options.memory_bytes, self.log)
        seconds, edges, size = self.process.read(OPEN_SECONDS).split()
        self.facts = {"load_seconds": float(seconds), "edge_bytes": int(size) / int(edges)}

    def ask(self, text, parameters, seconds):
        if self.process is None:
            self.open()
        seeds = [str(parameters[x]) for x in ("a", "b") if x in parameters]
        words = self.process.ask(" ".join([text, str(self.threads)] + seeds), seconds).split()
        return Reply([int(x) for x in words[1:]], float(words[0]))

    def work(self, kind, connections, seconds):
        """What the disk allows for commits, and gRPC for reads: calls that are answered at once."""
        if not self.options.connections or self.threads > 1:
            return None
        if kind == "read":
            echo = LineProcess([self.options.connections, "echo"], self.options.memory_bytes,
                               self.log)
            try:
                return run_connections(self.options.connections, "read", echo.read(OPEN_SECONDS),
                                       connections, seconds)
            finally:
                echo.close()
        folder = tempfile.mkdtemp(dir=self.data.folder)
        try:
            return run_connections(self.options.connections, "sync", os.path.join(folder, "log"),
                                   connections, seconds)
        finally:
            shutil.rmtree(folder)


class LimitTwoThreads(Limit):
    name = "limit2"
    threads = 2
