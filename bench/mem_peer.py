"""Gremlin Server with TinkerGraph in the memory group of mem_promise, asked as Koios is."""
import os
import sys
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "compare"))
import data as data_sets  # noqa: E402
import tinkergraph  # noqa: E402
from peer import PeerError  # noqa: E402

LOAD_SECONDS = 240
SMALLEST = 10


class GremlinServer(tinkergraph.TinkerGraph):
    """Three quarters of the cap are its heap; the rest is for what a Java process has beside."""

    name = "tinkergraph-capped"
    load_seconds = LOAD_SECONDS
    rows_that_fit = 1 << 62

    def __init__(self, data, cap):
        super().__init__(data, SimpleNamespace(memory_bytes=1 << 40))
        self.prefix = cap.prefix()
        self.java = ("-Xmx%dm" % (cap.bytes * 3 // 4 >> 20),)

    @property
    def address(self):
        return "ws://127.0.0.1:%d/gremlin" % self.port


def largest(koios, scale, cap, say):
    """The server with the largest graph of 2^scale vertices or fewer that it loads. Says what it
    doesn't load."""
    while scale >= SMALLEST:
        data = data_sets.DataSet("rmat-%d" % scale, "rmat", scale=scale)
        data.prepare(koios)
        server = GremlinServer(data, cap)
        say("Gremlin Server, rmat-%d: loading" % scale)
        try:
            seconds = server.load()
            say("Gremlin Server, rmat-%d: loaded in %.0f s" % (scale, seconds))
            return server, data
        except PeerError as e:
            say("Gremlin Server, rmat-%d: not loaded (%s)" % (scale, e))
            server.close()
        scale -= 1 if scale <= 17 else 2
    return None, None
