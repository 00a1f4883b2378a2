"""The targets: each has round(number), which gives what is wrong in words, or "" for nothing."""
import glob
import gzip
import os
import random
import re
import socket
import subprocess

import mutate
from driver import environment

ROUND_SECONDS = 60
# What an answer may be besides rows. INTERNAL is a fault wherever it comes from.
FAULTS = ("INTERNAL", "UNKNOWN", "DATA_LOSS")


def golden_queries():
    from golden.cases import GoldenFile
    queries = []
    for path in sorted(glob.glob(os.path.join(environment.TESTS, "golden", "*", "*.test"))):
        queries += ["\n".join(case.query) for case in GoldenFile(path).cases]
    return queries


def chance_of(seed, name, number):
    return random.Random("%s %s %d" % (seed, name, number))


class Text:
    """Mutated queries: the scanner, the parser, the planner and the engine behind them."""
    name = "text"

    def __init__(self, data, server, a):
        from driver.client import Client
        self.seed, self.server = a.seed, server
        self.client = Client(server.address, wait_for_ready=True)
        self.queries = [text for text in golden_queries() if re.search(a.match, text)]

    def round(self, number):
        import grpc
        from driver.client import QueryError
        chance = chance_of(self.seed, self.name, number)
        query = mutate.text(chance, chance.choice(self.queries), self.queries)
        deaths = self.server.deaths
        try:
            self.client.submit(query, timeout=1.0)
        except QueryError as e:
            if e.code in FAULTS:
                return "%s %s for the query %r" % (e.code, e.message, query)
        except grpc.RpcError as e:
            return "%s after the query %r" % (e.code().name, query)
        return "the server died of the query %r" % query if self.server.deaths != deaths else ""


class Request:
    """Mutated requests and bytes that are none, against the server's port."""
    name = "request"
    METHODS = ["Submit", "CancelQuery", "GetSchema", "GetStats", "ListQueries", "ListGraphs",
               "Nope"]
    PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    def __init__(self, data, server, a):
        from driver.client import Client
        self.seed, self.server = a.seed, server
        self.client = Client(server.address, wait_for_ready=True)

    def _sample(self, chance):
        from driver.client import value_of
        from proto import service_pb2
        request = service_pb2.SubmitRequest(
            query="g.V().has('name', x).out(y)", graph=chance.choice(["", "g", "nope"]),
            mode=chance.randint(0, 2), timeout_ms=500)
        nested = ["a", 1, 2.5, None, True, {"k": [1, {"z": "y"}]}]
        for name in ("x", "y"):
            request.parameters[name].CopyFrom(value_of(chance.choice(nested + [nested])))
        return request.SerializeToString()

    def _call(self, chance):
        import grpc
        body = mutate.data(chance, self._sample(chance))
        method = "/koios.v1.Koios/" + chance.choice(self.METHODS[:1] * 6 + self.METHODS)
        try:
            call = self.client.channel.unary_stream(method)(body, timeout=3)
            for _ in call:
                pass
        except grpc.RpcError as e:
            # gRPC itself says INTERNAL to bytes that are no message.
            if e.code().name in ("UNKNOWN", "DATA_LOSS", "UNAVAILABLE"):
                return "%s %s" % (e.code().name, e.details())
        return ""

    def _raw(self, chance):
        host, port = self.server.address.rsplit(":", 1)
        noise = bytes(chance.randint(0, 255) for _ in range(chance.randint(0, 300)))
        frame = (chance.choice([0, 9, 0xffffff, len(noise)]).to_bytes(3, "big") +
                 bytes([chance.randint(0, 12), chance.randint(0, 255)]) +
                 chance.choice([0, 1, 3, 1 << 31]).to_bytes(4, "big"))
        settings = b"\0\0\0\4\0\0\0\0\0"
        message = chance.choice([noise, self.PREFACE + noise,
                                 self.PREFACE + settings + frame + noise,
                                 b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01" + noise])
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.settimeout(0.05)
            try:
                connection.sendall(message)
                connection.recv(4096)
            except OSError:  # refused or silent: both are fine
                pass
        return ""

    def round(self, number):
        chance = chance_of(self.seed, self.name, number)
        deaths = self.server.deaths
        said = self._raw(chance) if chance.random() < 0.2 else self._call(chance)
        if self.server.deaths != deaths:
            return "the server died in this round"
        if not said and number % 20 == 0:
            rows, _ = self.client.submit("g.inject(1)", timeout=10)
            said = "" if len(rows) == 1 else "g.inject(1) has %d rows" % len(rows)
        return said


class Import:
    """Mutated CSV files, into a data folder of their own."""
    name = "import"
    NODES = ["~id,~label,name:String,age:Int,tags:String[]\n1,person,marko,29,a;b\n"
             "2,person,\"va\"\"das\",,\n3,software,lop,,x\n",
             ":ID,name,age:int,:LABEL\na,marko,29,Person\nb,\"x,y\",1,Person;Admin\n"]
    EDGES = ["~id,~from,~to,~label,weight:Double,since:Date\n7,1,2,knows,0.5,2020-01-02\n"
             "8,2,3,made,,\n",
             ":START_ID,:END_ID,:TYPE,w:double\na,b,KNOWS,1.5\nb,a,KNOWS,\n"]

    def __init__(self, data, server, a):
        self.data, self.seed = data, a.seed
        self.folder = data.file("fuzz-import", "data")
        self._koios("import", "--data", self.folder, "--graph", "kept",
                    "--nodes", self._write("kept.csv", self.NODES[0].encode()))

    def _write(self, name, content):
        path = self.data.file("fuzz-import", name)
        with open(path, "wb") as f:
            f.write(content)
        return path

    def _koios(self, *arguments):
        return subprocess.run([self.data.binary, *arguments], capture_output=True, check=False,
                              timeout=ROUND_SECONDS)

    def _file(self, chance, name, samples, which):
        text = samples[which]
        if chance.random() < 0.8:
            text = mutate.text(chance, text, self.NODES + self.EDGES, mutate.FIELDS)
        content = text.encode("utf-8", "replace")
        if chance.random() < 0.15:
            content = mutate.data(chance, content)
        if chance.random() < 0.15:
            content = gzip.compress(content, mtime=0)
            name += ".gz"
            if chance.random() < 0.5:
                content = mutate.data(chance, content)
        return self._write(name, content)

    def round(self, number):
        chance = chance_of(self.seed, self.name, number)
        which = chance.randint(0, 1)
        arguments = ["import", "--data", self.folder, "--replace", "--progress", "none",
                     "--nodes", self._file(chance, "n.csv", self.NODES, which),
                     "--edges", self._file(chance, "e.csv", self.EDGES, which)]
        arguments += chance.choice([[], ["--bad-tolerance", "-1"], ["--skip-missing-endpoints"],
                                    ["--delimiter", ";"], ["--quote", "none"],
                                    ["--id-type", "int"]])
        try:
            done = self._koios(*arguments)
            if done.returncode not in (0, 1, 2, 6):
                return "exit code %d: %s" % (done.returncode, done.stderr[-500:])
            graphs = ["kept", "g"] if done.returncode in (0, 6) else ["kept"]
            for graph in graphs if number % 5 == 0 else []:
                check = self._koios("admin", "check", "--data", self.folder, "--graph", graph)
                if check.returncode != 0:
                    return "check of %s: %s%s" % (graph, check.stdout[-500:], check.stderr[-500:])
        except subprocess.TimeoutExpired:
            return "it took longer than %d s" % ROUND_SECONDS
        return ""


TARGETS = {target.name: target for target in (Text, Request, Import)}
