"""Kuzu in the process of worker.py. All kinds of edges of one name are one table of relations."""
import os
import shutil
import time

import kuzu
from worker import Worker

_TYPES = {"long": "INT64", "int": "INT64", "string": "STRING", "strings": "STRING",
          "bool": "BOOL"}


def _columns(columns):
    return ", ".join("%s %s" % (name, _TYPES[kind]) for name, kind in columns)


class Kuzu(Worker):
    def __init__(self):
        super().__init__()
        self.database = self.connection = None

    def load(self, spec, path):
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        self.open(spec, path, 4 << 30)
        for node in spec["nodes"]:
            self.connection.execute("CREATE NODE TABLE %s(%s, PRIMARY KEY (id))" % (
                node["label"], _columns(node["columns"])))
        for kind in sorted({x["type"] for x in spec["edges"]}):
            same = [x for x in spec["edges"] if x["type"] == kind]
            pairs = ["FROM %(from)s TO %(to)s" % x for x in same]
            self.connection.execute("CREATE REL TABLE %s(%s)" % (kind, ", ".join(
                pairs + ([_columns(same[0]["columns"])] if same[0]["columns"] else []))))
        options = "HEADER=true, DELIM='%s', PARALLEL=true" % spec["delimiter"]
        if spec["delimiter"] == "|":
            options += ", QUOTE='\x01', ESCAPE='\x01'"
        started = time.perf_counter()
        for node in spec["nodes"]:
            self.connection.execute("COPY %s FROM '%s' (%s)" % (
                node["label"], node["file"], options))
        for edge in spec["edges"]:
            self.connection.execute("COPY %s FROM '%s' (%s, FROM='%s', TO='%s')" % (
                edge["type"], edge["file"], options, edge["from"], edge["to"]))
        seconds = time.perf_counter() - started
        self.connection.execute("CHECKPOINT")
        return {"seconds": seconds}

    def open(self, spec, path, memory_bytes):
        self.spec = spec
        self.database = kuzu.Database(os.path.join(path, "db"), buffer_pool_size=memory_bytes)
        self.connection = kuzu.Connection(self.database)

    def query(self, text, parameters, timeout):
        self.connection.set_query_timeout(int(timeout * 1000))
        return self.connection.execute(text, parameters).get_all()

    def reader(self):
        connection = kuzu.Connection(self.database, num_threads=1)

        def read(number):
            return connection.execute("MATCH (v:node {id: $v}) RETURN v.name",
                                      {"v": number}).get_next()[0]
        return read


def make():
    return Kuzu()
