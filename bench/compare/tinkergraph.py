"""TinkerGraph."""
from peer import Peer


class TinkerGraph(Peer):
    name = "tinkergraph"
