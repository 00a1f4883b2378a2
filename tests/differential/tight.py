"""The questions to a server whose queries have little memory together, many at once. Needs
environment.make_stubs() before it is imported."""
import threading
import time

import grpc
from driver.client import Client, QueryError
from driver.server import Server
from proto import service_pb2

QUERIES_SHARE = 45  # of a hundred of --memory-mb
IDLE_SECONDS = 20
# Asked all the time beside the questions, so that memory is short: each takes what one may have.
BESIDE = "g.V().both().both().both().path().fold().count(Scope.local)"
NUM_BESIDE = 12
REASONS = ("QUERY_MEMORY", "PROCESS_MEMORY", "REQUEST_MEMORY")


class _Refused(Exception):
    pass


class _CountingClient(Client):
    """Tells refusals for memory from other errors."""

    def __init__(self, address):
        super().__init__(address, wait_for_ready=True)
        self.spilled, self.peak_bytes, self.refused, self.problems = 0, 0, {}, []

    def submit(self, query, *unused, **more):
        try:
            rows, summary = super().submit(query, *unused, **more)
        except QueryError as e:
            if e.detail is None or e.detail.reason not in REASONS:
                raise
            self.refused[e.detail.reason] = self.refused.get(e.detail.reason, 0) + 1
            if not (e.detail.limit and e.detail.setting):
                self.problems.append("a refusal names no limit: %s: %s" % (query, e))
            raise _Refused(e.detail.reason) from None
        self.spilled += summary.spilled_bytes > 0
        self.peak_bytes = max(self.peak_bytes, summary.peak_bytes)
        return rows, summary


def _charged(client):
    """Bytes of all queries; plans that are kept stay."""
    stats = client.stub.GetStats(service_pb2.GetStatsRequest(graph="modern"), wait_for_ready=True)
    return stats.memory_bytes - stats.plan_cache.bytes


def _wait_until(client, charged):
    """What is charged beyond that when nothing is asked any more."""
    end = time.monotonic() + IDLE_SECONDS
    while _charged(client) != charged and time.monotonic() < end:
        time.sleep(0.1)
    return _charged(client) - charged


class TightServer:
    """`answers`: what `ask(client, number)` gave for each case, or (None, why it was refused);
    `problems`, in words: there must be none."""

    def __init__(self, data, workers, queries_mb, query_mb):
        self.data, self.workers = data, workers
        self.flags = ["--memory-mb", str(queries_mb * 100 // QUERIES_SHARE),
                      "--query-memory-mb", str(query_mb)]
        self.answers, self.problems, self.words = [], [], ""
        self.refused_beside = 0

    def run(self, num_cases, num_clients, ask):
        self.answers = [(None, "nobody asked")] * num_cases
        with Server(self.data, self.workers, keep_alive=True, flags=self.flags) as server:
            idle = Client(server.address)
            before, seen = _charged(idle), []
            clients = [_CountingClient(server.address) for _ in range(num_clients)]
            askers = [threading.Thread(target=self._ask_share,
                                       args=(client, range(first, num_cases, num_clients), ask))
                      for first, client in enumerate(clients)]
            over = threading.Event()
            beside = [threading.Thread(target=self._fill, args=(server.address, over))
                      for _ in range(NUM_BESIDE)]
            for thread in askers + beside:
                thread.start()
            while any(thread.is_alive() for thread in askers):
                seen.append(_charged(idle))
                time.sleep(0.05)
            over.set()
            for thread in beside:
                thread.join()
            left = _wait_until(idle, before)
        if left:
            self.problems.append("%d bytes stay charged" % left)
        self.problems += ["the server died"] * server.deaths
        self._sum_up(clients, sorted(seen))

    def _ask_share(self, client, numbers, ask):
        for number in numbers:
            try:
                self.answers[number] = ask(client, number)
            except _Refused as e:
                self.answers[number] = (None, "refused: %s" % e)
            except grpc.RpcError as e:
                self.problems.append("no answer: %s" % e.details())
        client.close()

    def _fill(self, address, over):
        client = _CountingClient(address)
        while not over.is_set():
            try:
                client.submit(BESIDE, graph="random_snapshot")
            except _Refused:
                self.refused_beside += 1
            except grpc.RpcError as e:
                self.problems.append("beside the questions: %s" % e.details())
                return
            except QueryError as e:
                self.problems.append("beside the questions: %s" % e)
        self.problems += client.problems
        client.close()

    def _sum_up(self, clients, seen):
        refused = {reason: sum(x.refused.get(reason, 0) for x in clients) for reason in REASONS}
        total = sum(refused.values())
        self.words = ("%d of %d refused (%s), %d went to disk, at most %d KiB each; all together "
                      "%d KiB in the median, %d at most; %d refused beside" % (
                          total, len(self.answers),
                          ", ".join("%s %d" % x for x in refused.items()),
                          sum(x.spilled for x in clients),
                          max(x.peak_bytes for x in clients) >> 10,
                          seen[len(seen) // 2] >> 10, seen[-1] >> 10,
                          self.refused_beside))
        for client in clients:
            self.problems += client.problems
        if total == len(self.answers) or not self.refused_beside:
            self.problems.append("all were refused, or memory was never short: this proves nothing")
