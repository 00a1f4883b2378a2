"""A koios of our own: a temporary data folder, imports into it, a server on a free port."""
import os
import re
import selectors
import subprocess
import sys
import tempfile
import threading
import time

from driver import environment

READY = re.compile(r"^koios ready grpc=(\S+)")
START_SECONDS = 60


class DataFolder:
    """A data folder that goes away at the end (`with DataFolder(binary) as data`)."""

    def __init__(self, binary):
        self.binary = binary
        self._temporary = tempfile.TemporaryDirectory(prefix="koios-test-")
        self.root = self._temporary.name
        self.path = os.path.join(self.root, "data")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._temporary.cleanup()

    def file(self, *parts):
        path = os.path.join(self.root, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def folder(self, name):
        path = os.path.join(self.root, name)
        os.makedirs(path, exist_ok=True)
        return path

    def koios(self, *arguments):
        """Runs a subcommand to its end; an exit code but 0 ends the tests."""
        done = subprocess.run([self.binary, *arguments], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            sys.exit("koios %s\nexit code %d\n%s%s" %
                     (" ".join(arguments), done.returncode, done.stdout, done.stderr))
        return done.stdout

    def import_graph(self, name, nodes, edges, *more):
        arguments = ["import", "--data", self.path, "--graph", name, "--progress", "none"]
        for flag, files in (("--nodes", nodes), ("--edges", edges)):
            if files:
                arguments += [flag, *files]
        return self.koios(*arguments, *more)


class Server:
    """`koios serve` over a data folder (`with Server(data, workers=4) as server`).

    keep_alive: a server that dies is started again on the same port, and `deaths` says how often,
    so that one crash does not hide what the other tests would have told. flags: more of `serve`'s.
    KOIOS_ISOLATE=1 in the environment adds --isolate-partitions to all of them.
    prefix: a command that ends in running the one behind it, as ["sh", "-c", 'exec "$0" "$@"'].
    """

    def __init__(self, data, workers, keep_alive=False, flags=(), prefix=()):
        self.flags, self.prefix = list(flags), list(prefix)
        self.data, self.workers, self.deaths, self.stopping = data, workers, 0, False
        self.log_path = data.file("server-%d.log" % workers)
        self.process, self.address = None, None
        self._start("0")
        if keep_alive:
            threading.Thread(target=self._watch, daemon=True).start()

    def _start(self, port):
        arguments = self.prefix + [self.data.binary, "serve", "--data", self.data.path,
                                   "--grpc-port", port, "--workers", str(self.workers)]
        arguments += self.flags
        if environment.ISOLATED:
            arguments.append("--isolate-partitions")
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                arguments, stdout=subprocess.PIPE, stderr=log)
        self.address = self._wait_until_ready()

    def _wait_until_ready(self):
        selector = selectors.DefaultSelector()
        selector.register(self.process.stdout, selectors.EVENT_READ)
        end, text = time.monotonic() + START_SECONDS, b""
        while time.monotonic() < end and self.process.poll() is None:
            if selector.select(timeout=0.2):
                text += os.read(self.process.stdout.fileno(), 65536)
                match = READY.match(text.decode(errors="replace"))
                if match and b"\n" in text:
                    return match.group(1)
        self.stop()
        sys.exit("the server did not start: %s\n%s" %
                 (text.decode(errors="replace"), self.errors()))

    def _watch(self):
        while True:
            self.process.wait()
            if self.stopping:
                return
            self.deaths += 1
            print("the server died (exit code %s)" % self.process.returncode, flush=True)
            self._start(self.address.rsplit(":", 1)[1])

    def errors(self, limit=4000):
        with open(self.log_path, encoding="utf-8", errors="replace") as f:
            return f.read()[-limit:]

    def stop(self):
        """The exit code; a server that does not stop within 20 s is killed (code None)."""
        self.stopping = True
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = None
        self.process.stdout.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        code = self.stop()
        if code != 0:
            print("the server ended with exit code %s\n%s" % (code, self.errors()), flush=True)
            self.deaths += 1
