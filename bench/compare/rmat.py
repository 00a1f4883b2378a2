"""What is asked of an rmat graph, in the language of each peer, each as a user would write it.
The limit's answer is what the others must give."""
import random
from typing import NamedTuple

SEED = 20_240_601


class Workload(NamedTuple):
    key: str        # the limit's name for it
    name: str
    target: float   # times the limit that Koios may take; 0: none is set
    seeds: int      # vertices that it starts from: a, b
    normal: object  # a function that makes numbers of the rows, to be compared
    gremlin: str
    cypher: str
    sql: str
    neo4j: str = ""  # where it differs from Kuzu's Cypher


def _single(row):
    return row[0] if isinstance(row, (list, tuple)) else row


def _number(rows):
    return [int(_single(rows[0]))]


def _numbers(rows):
    return [int(_single(row)) for row in rows]


def _rows(rows):
    return [len(rows), sum(_single(row) for row in rows)]


def _size(rows):
    return [len(rows)]


def _groups(rows):
    """A map of Gremlin is one row."""
    pairs = rows[0].items() if isinstance(rows[0], dict) else rows
    counts = dict((int(k), int(v)) for k, v in pairs)
    return [counts[k] for k in sorted(counts)]


def _length(rows):
    """Gremlin gives how many vertices a path has, or nothing."""
    return [int(rows[0]) - 1 if rows else -1]


def _name(rows):
    return [int(_single(rows[0])[1:])]


def _sql_hops(hops, what="count(*)", more=""):
    joins = "".join(" JOIN link e%d ON e%d.src = e%d.dst" % (i, i, i - 1)
                    for i in range(2, hops + 1))
    return "SELECT %s FROM link e1%s WHERE e1.src = $a%s" % (what, joins, more)


def _cypher_hops(hops, rest):
    """One MATCH an edge: walks, which may take an edge twice."""
    return " ".join(["MATCH (v0:node {id: $a})-[:link]->(v1:node)"] +
                    ["MATCH (v%d)-[:link]->(v%d:node)" % (i - 1, i)
                     for i in range(2, hops + 1)] + [rest])


def _hops(hops, target):
    text = ".out()" * hops
    return Workload("hop-%d" % hops, "%d-hop count" % hops, target, 1, _number,
                    "g.V(a)%s.count()" % text, _cypher_hops(hops, "RETURN count(*)"),
                    _sql_hops(hops))


def _each(hops):
    return Workload("each-%d" % hops, "%d-hop paths, each row" % hops, 3, 1, _number,
                    "g.V(a).as('s')%s.where(neq('s')).count()" % (".out()" * hops),
                    _cypher_hops(hops, "WHERE v%d.id <> v0.id RETURN count(*)" % hops),
                    _sql_hops(hops, more=" AND e%d.dst <> $a" % hops))


def _closed(key, name, hops):
    back = "MATCH (v%d)-[:link]->(v0) RETURN count(*)" % (hops - 1)
    return Workload(key, name, 4, 1, _number,
                    "g.V(a).as('s')%s.where(out().as('s')).count()" % (".out()" * (hops - 1)),
                    _cypher_hops(hops - 1, back),
                    _sql_hops(hops, more=" AND e%d.dst = $a" % hops))


_SHORTEST_SQL = """WITH RECURSIVE both_ways AS (
  SELECT src AS a, dst AS b FROM link UNION ALL SELECT dst, src FROM link),
near(id, distance) USING KEY (id) AS (
  SELECT $a::BIGINT, 0
  UNION
  SELECT k.b, min(n.distance) + 1
  FROM near n JOIN both_ways k ON k.a = n.id LEFT JOIN recurring.near r ON r.id = k.b
  WHERE r.id IS NULL AND NOT EXISTS (SELECT 1 FROM recurring.near WHERE id = $b) GROUP BY k.b)
SELECT coalesce((SELECT distance + 1 FROM near WHERE id = $b), 0)"""
_SHORTEST = "MATCH (x:node {id: $a}), (y:node {id: $b}) OPTIONAL MATCH "
_SHORTEST_KUZU = _SHORTEST + ("(x)-[e:link* SHORTEST 1..30]-(y) "
                              "RETURN coalesce(length(e) + 1, 0)")
_SHORTEST_NEO4J = _SHORTEST + ("e = shortestPath((x)-[:link*]-(y)) "
                               "RETURN coalesce(length(e) + 1, 0)")


def _path(key, name, gremlin):
    return Workload(key, name, 4, 2, lambda rows: _length([_single(x) for x in rows]), gremlin,
                    _SHORTEST_KUZU, _SHORTEST_SQL, _SHORTEST_NEO4J)


WORKLOADS = (
    Workload("count-edges", "out edges of all, counted", 3, 0, _number, "g.V().out().count()",
             "MATCH (x:node)-[:link]->(y:node) RETURN count(*)", "SELECT count(*) FROM link"),
    Workload("each-edge", "out edges of all, each row", 3, 0, _number,
             "g.V().as('s').out().where(neq('s')).count()",
             "MATCH (x:node)-[:link]->(y:node) WHERE x.id <> y.id RETURN count(*)",
             "SELECT count(*) FROM link WHERE src <> dst"),
    _hops(1, 3), _hops(2, 3), _hops(3, 3), _each(2), _each(3),
    Workload("rows-2", "2-hop ends, sent to the client", 0, 1, _rows, "g.V(a).out().out().id()",
             _cypher_hops(2, "RETURN v2.id"), _sql_hops(2, "e2.dst")),
    Workload("distinct-2", "2-hop ends, distinct", 3, 1, _number,
             "g.V(a).out().out().dedup().count()", _cypher_hops(2, "RETURN count(DISTINCT v2.id)"),
             _sql_hops(2, "count(DISTINCT e2.dst)"), _cypher_hops(2, "RETURN count(DISTINCT v2)")),
    Workload("group", "all vertices by a property", 3, 0, _groups,
             "g.V().groupCount().by('bucket')",
             "MATCH (x:node) RETURN x.bucket, count(*)",
             "SELECT bucket, count(*) FROM node GROUP BY bucket"),
    Workload("group-edges", "ends of all edges by a property", 3, 0, _groups,
             "g.V().out().groupCount().by('bucket')",
             "MATCH (x:node)-[:link]->(y:node) RETURN y.bucket, count(*)",
             "SELECT n.bucket, count(*) FROM link e JOIN node n ON n.id = e.dst GROUP BY n.bucket"),
    Workload("two-paths", "all two-paths, counted", 3, 0, _number, "g.V().out().out().count()",
             "MATCH (x:node)-[:link]->(y:node) MATCH (y)-[:link]->(z:node) RETURN count(*)",
             "SELECT count(*) FROM link e JOIN link f ON f.src = e.dst"),
    _closed("triangles", "triangles through a vertex", 3),
    _closed("four-walks", "closed walks of four edges", 4),
    _path("shortest", "shortest path",
          "g.V(a).repeat(both().dedup()).until(hasId(b)).limit(1).path().count(local)"),
    _path("shortest-simple", "shortest path, with simplePath",
          "g.V(a).repeat(both().simplePath()).until(hasId(b)).path().limit(1).count(local)"),
    Workload("four-hop-limit", "4 hops, first 10", 0, 1, _size,
             "g.V(a).out().out().out().out().limit(10).id()",
             _cypher_hops(4, "RETURN v4.id LIMIT 10"), _sql_hops(4, "e4.dst", " LIMIT 10")),
    Workload("top-k", "10 largest out degrees", 3, 0, _numbers,
             "g.V().order().by(out().count(),desc).limit(10).map(out().count())",
             "MATCH (x:node)-[:link]->(y:node) WITH x, count(*) AS n ORDER BY n DESC LIMIT 10 "
             "RETURN n",
             "SELECT count(*) AS n FROM link GROUP BY src ORDER BY n DESC LIMIT 10",
             "MATCH (x:node) RETURN COUNT { (x)-[:link]->() } AS n ORDER BY n DESC LIMIT 10"),
    Workload("point", "a property of a vertex", 0, 1, _name, "g.V(a).values('name')",
             "MATCH (x:node {id: $a}) RETURN x.name", "SELECT name FROM node WHERE id = $a"),
)


def text_of(workload, language):
    if language == "limit":
        return workload.key
    if language == "neo4j":
        return workload.neo4j or workload.cypher
    return getattr(workload, language)


def draw(limit, scale, number, seconds):
    """So many vertices that have out edges, the same for the same scale."""
    rng, found = random.Random(SEED), []
    while len(found) < number:
        vertex = rng.randrange(1 << scale)
        if limit.ask("hop-1", {"a": vertex}, seconds).rows[0] > 0:
            found.append(vertex)
    return found


def parameters(workload, seeds):
    """One for each run, in turn."""
    if workload.seeds == 0:
        return [{}]
    if workload.seeds == 1:
        return [{"a": a} for a in seeds]
    return [{"a": a, "b": b} for a, b in zip(seeds, seeds[1:] + seeds[:1])]
