"""The scenarios' toy graphs as CSV files with Neptune headers.

A vertex property is single so far: of the crew's several locations the last one is kept, and
meta-properties are left out.
"""
import csv
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
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _write(path, fixed, elements):
    rows = [(e, _values_of(e)) for e in elements]
    columns = sorted({column for _, values in rows for column in values})
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["~" + name for name in fixed] + ["%s:%s" % c for c in columns])
        for element, values in rows:
            names = {"from": "out", "to": "in"}
            row = [element[names.get(name, name)] for name in fixed]
            out.writerow(row + [_cell(values.get(c)) for c in columns])


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
