"""LDBC SNB's reads: cases and expected answers as tests/ldbc has them, the peers' texts from
texts/."""
import os
import re
import sys

from driver import environment

sys.path.insert(0, os.path.join(environment.TESTS, "ldbc"))
from cases import read_cases, read_query  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ["is%d" % i for i in range(1, 8)] + ["ic%d" % i for i in range(1, 15)]


def _sections(file):
    """{name: text} of a file whose sections begin with a comment that is a name."""
    with open(os.path.join(HERE, "texts", file), encoding="utf-8") as f:
        parts = re.split(r"(?m)^(?:--|//) (i[sc]\d+)$\n", f.read())
    return dict(zip(parts[1::2], parts[2::2]))


def texts(language):
    """{name: (text, names of its parameters)}. Neo4j takes Kuzu's Cypher where it has none."""
    if language == "gremlin":
        return {name: read_query(name) for name in NAMES}
    found = _sections("snb.sql" if language == "sql" else "snb.cypher")
    if language == "neo4j":
        found = {name: _for_neo4j(text) for name, text in found.items()}
        found.update(_sections("snb-neo4j.cypher"))
    return {name: (text, set(re.findall(r"\$(\w+)", text))) for name, text in found.items()}


def _for_neo4j(text):
    """That a message is a post is a label there."""
    return re.sub(r"\b(\w+)\.post\b", r"\1:Post", text)


def cases(folder, name, words):
    """[(parameters, expected rows)]"""
    found = []
    for case in read_cases(folder, name):
        found.append(({k: v for k, v in case["params"].items() if k in words},
                      normal(name, case["result"])))
    return found


def _plain(x):
    if isinstance(x, dict):
        return [_plain(y) for y in x.values()]
    if isinstance(x, (list, tuple)):
        return [_plain(y) for y in x]
    return x


def _listed(x):
    """A list that is stored as text."""
    return [y for y in x.split(";") if y] if isinstance(x, str) else x or []


def _sorted(rows):
    return sorted([str(y) for y in row] for row in rows or [] if row[0] is not None)


def normal(name, rows):
    """Rows as they are compared. Lists inside of a row of ic1 have no order in Cypher, and rows of
    ic14 with equal weights none in Kuzu."""
    rows = _plain(rows)
    if name == "ic1":
        return [row[:8] + [_listed(row[8]), _listed(row[9]), row[10], _sorted(row[11]),
                           _sorted(row[12])] for row in rows]
    if name == "ic14":
        return sorted(rows, key=lambda row: (-row[1], row[0]))
    return rows
