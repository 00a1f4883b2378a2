"""The scenarios' toy graphs as CSV files with Neptune headers.

A vertex property is single so far: of the crew's several locations the last one is kept, and
meta-properties are left out.
"""
import json
import os

# The scenarios name the sources so; the last one is empty, and theirs to fill.
SOURCES = {"modern": "gmodern", "classic": "gclassic", "crew": "gcrew", "grateful": "ggrateful",
           "sink": "gsink"}
EMPTY_SOURCE = "ggraph"


def _values_of(element):
    """{(key, type): value}; a property that stands there twice keeps its last value."""
    return {(p["key"], p["type"]): p["value"] for p in element["properties"]}


def _cell(value):
    """Strings are quoted: an empty one is a value, an empty field is none."""
    if value is None:
        return ""
    if isinstance(value, str):
        return '"%s"' % value.replace('"', '""')
    return str(value).lower() if isinstance(value, bool) else str(value)


def _write(path, fixed, elements):
    rows = [(e, _values_of(e)) for e in elements]
    columns = sorted({column for _, values in rows for column in values})
    names = {"from": "out", "to": "in"}
    with open(path, "w", encoding="utf-8") as f:
        f.write(",".join(["~" + name for name in fixed] + ["%s:%s" % c for c in columns]) + "\n")
        for element, values in rows:
            row = [element[names.get(name, name)] for name in fixed]
            row += [values.get(c) for c in columns]
            f.write(",".join(map(_cell, row)) + "\n")


def import_all(data, features):
    """Imports every toy graph and the empty one into the data folder."""
    for graph, source in SOURCES.items():
        with open(os.path.join(features, "graphs", graph + ".json"), encoding="utf-8") as f:
            content = json.load(f)
        nodes = data.file("csv", graph + "-vertices.csv")
        edges = data.file("csv", graph + "-edges.csv")
        _write(nodes, ("id", "label"), content["vertices"])
        _write(edges, ("id", "from", "to", "label"), content["edges"])
        data.import_graph(source, [nodes], [edges])
    empty = data.file("csv", "empty-vertices.csv")
    _write(empty, ("id", "label"), [])
    data.import_graph(EMPTY_SOURCE, [empty], [])
