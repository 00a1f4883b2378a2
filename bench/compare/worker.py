"""The process of an embedded engine in Python: `worker.py kuzu|duckdb`. Each line on the standard
input is a request as JSON, {"do": METHOD, ...}; each is answered with one line: what the method
gave, or {"error": TEXT}."""
import importlib
import json
import sys
import threading
import time

RANDOM_STEP = 2654435761


class Worker:
    """One engine; a sub-class has load, open, query and read_one. spec: the CSV files."""

    def __init__(self):
        self.spec, self.path = None, ""

    def load(self, spec, path):
        """Loads into `path`; {'seconds': ...} of the copying alone."""
        raise NotImplementedError

    def open(self, spec, path, memory_bytes):
        raise NotImplementedError

    def query(self, text, parameters, timeout):
        """The rows. Stops after `timeout` seconds with an error."""
        raise NotImplementedError

    def reader(self):
        """A function that reads the name of a vertex over a connection of its own."""
        raise NotImplementedError

    def timed(self, text, parameters, timeout):
        started = time.perf_counter()
        rows = self.query(text, parameters, timeout)
        return {"seconds": time.perf_counter() - started, "rows": rows}

    def read_points(self, connections, seconds, vertices):
        """Each connection reads on a thread of its own."""
        times, errors = [[] for _ in range(connections)], []

        def run(mine, read, number):
            end = time.perf_counter() + seconds
            try:
                while time.perf_counter() < end:
                    number = (number * RANDOM_STEP + 1) % vertices
                    started = time.perf_counter()
                    if read(number) != "n%d" % number:
                        raise ValueError("a wrong name")
                    mine.append(time.perf_counter() - started)
            except Exception as e:  # pylint: disable=broad-except
                errors.append(str(e))

        threads = [threading.Thread(target=run, args=(mine, self.reader(), i + 1))
                   for i, mine in enumerate(times)]
        started = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.perf_counter() - started
        if errors:
            raise ValueError(errors[0])
        every = sorted(x for mine in times for x in mine)
        return {"rate": len(every) / took, "median": every[len(every) // 2],
                "p95": every[len(every) * 95 // 100]}


def main():
    worker = importlib.import_module(sys.argv[1] + "_worker").make()
    for line in sys.stdin:
        request = json.loads(line)
        method = getattr(worker, request.pop("do"))
        try:
            answer = method(**request) or {}
        except Exception as e:  # pylint: disable=broad-except
            answer = {"error": "%s: %s" % (type(e).__name__, str(e)[:500])}
        print(json.dumps(answer, default=str), flush=True)


if __name__ == "__main__":
    main()
