#!/usr/bin/env python3
"""The clients of mem_promise, in a process of their own: mem_load.py STUBS PLAN. Tells at the end
what became of their queries."""
import collections
import json
import os
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests"))

STREAMED = "g.V().both().both().both().path()"


class Load:
    """plan: address, what (a method), count, seconds, timeout, queries, crowd, peer."""

    def __init__(self, plan):
        self.plan = plan
        self.ends = collections.Counter()
        self.of_query = collections.defaultdict(collections.Counter)
        self.wrong, self.late = [], 0.0
        self.end = time.monotonic() + plan["seconds"]

    def connect(self):
        raise NotImplementedError

    def rows(self, connection, text):
        """(how it ended, what it gave)"""
        raise NotImplementedError

    def note(self, name, end, begin):
        self.ends[end] += 1
        self.of_query[name][end] += 1
        self.late = max(self.late, time.monotonic() - begin - self.plan["timeout"])

    def ask(self, connection, name, text, expected):
        begin = time.monotonic()
        end, rows = self.rows(connection, text)
        if end == "answered" and expected is not None and rows != [expected]:
            self.wrong.append("%s: %s instead of %s" % (name, rows[:3], expected))
        self.note(name, end, begin)
        return end

    def explode(self, index):
        connection, queries = self.connect(), self.plan["queries"]
        while time.monotonic() < self.end:
            if self.ask(connection, *queries[index % len(queries)]) == "lost":
                time.sleep(0.5)
            index += 1

    def run(self):
        what = getattr(self, self.plan["what"])
        threads = [threading.Thread(target=what, args=(i,), daemon=True)
                   for i in range(self.plan["count"])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(json.dumps({"ends": self.ends, "wrong": self.wrong[:5], "late": self.late,
                          "of_query": self.of_query}), flush=True)


class KoiosLoad(Load):
    def __init__(self, plan):
        super().__init__(plan)
        import grpc
        from proto import service_pb2, service_pb2_grpc
        self.grpc, self.pb = grpc, service_pb2
        self.stub_class = service_pb2_grpc.KoiosStub

    def connect(self):
        options = [("grpc.use_local_subchannel_pool", 1),
                   ("grpc.max_receive_message_length", 64 << 20)]
        return self.stub_class(self.grpc.insecure_channel(self.plan["address"], options=options))

    def request(self, text):
        return self.pb.SubmitRequest(query=text, timeout_ms=int(self.plan["timeout"] * 1000))

    def rows(self, connection, text):
        rows = []
        try:
            for response in connection.Submit(self.request(text)):
                if response.WhichOneof("kind") == "batch":
                    rows.extend(response.batch.longs.values or response.batch.ints.values)
        except self.grpc.RpcError as e:
            return e.code().name, rows
        return "answered", rows

    def never_read(self, _):
        """Takes the first batch and no more until the end."""
        stub, begin = self.connect(), time.monotonic()
        call = stub.Submit(self.request(STREAMED))
        try:
            next(call)
            time.sleep(max(0, self.end - time.monotonic()))
            for _ in call:
                pass
            self.note("never read", "answered", begin)
        except self.grpc.RpcError as e:
            # Who takes nothing can't be told anything, and is cut off at its deadline.
            name = e.code().name
            self.ends["DEADLINE_EXCEEDED" if name == "CANCELLED" else name] += 1

    def leave(self, index):
        stub = self.connect()
        while time.monotonic() < self.end:
            call = stub.Submit(self.request(self.plan["queries"][index % 4][1]))
            time.sleep(0.01 * (index % 3))
            call.cancel()
            self.ends["left"] += 1
            index += 1

    def crowd(self, index):
        """A share of all that come at once, over one connection."""
        stub, queries = self.connect(), self.plan["queries"]
        calls = []
        for i in range(self.plan["crowd"] // self.plan["count"]):
            name, text, _ = queries[(index + i) % len(queries)]
            calls.append((name, time.monotonic(), stub.Submit(self.request(text))))
        for name, begin, call in calls:
            try:
                for _ in call:
                    pass
                self.note(name, "answered", begin)
            except self.grpc.RpcError as e:
                self.note(name, e.code().name, begin)


class GremlinServerLoad(Load):
    """Over WebSocket. A client waits for an answer as long again as the server may take, then it
    takes it for lost, with its connection."""

    def connect(self):
        import logging
        import warnings
        warnings.filterwarnings("ignore")
        logging.disable(logging.CRITICAL)
        return {}

    def rows(self, connection, text):
        from gremlin_python.driver.client import Client
        from gremlin_python.driver.protocol import GremlinServerError
        options = {"evaluationTimeout": int(self.plan["timeout"] * 1000),
                   "language": "gremlin-lang"}
        try:
            if "client" not in connection:
                connection["client"] = Client(self.plan["address"], "g", pool_size=1)
            asked = connection["client"].submit(text, request_options=options)
            return "answered", asked.all().result(2 * self.plan["timeout"])
        except GremlinServerError as e:
            message = e.status_message or ""
            if e.status_code == 598 or "imeout" in message:
                return "DEADLINE_EXCEEDED", []
            if "heap space" in message or "GC overhead" in message:
                return "RESOURCE_EXHAUSTED", []
            return message.split("\n", maxsplit=1)[0][:60] or str(e.status_code), []
        except Exception:  # pylint: disable=broad-except
            connection.clear()
            return "lost", []


def main():
    sys.path.insert(0, sys.argv[1])
    plan = json.loads(sys.argv[2])
    (GremlinServerLoad if plan.get("peer") else KoiosLoad)(plan).run()
    sys.stdout.flush()
    os._exit(0)  # whatever a lost connection's threads wait for


if __name__ == "__main__":
    main()
