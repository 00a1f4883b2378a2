"""A koios of our own: a temporary data folder, imports into it, a server on a free port."""
import os
import re
import selectors
import subprocess
import sys
import tempfile
import time

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

    def koios(self, *arguments):
        """Runs a subcommand to its end; an exit code but 0 ends the tests."""
        done = subprocess.run([self.binary, *arguments], capture_output=True, text=True, check=False)
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
    """`koios serve` over a data folder (`with Server(data, workers=4) as server`)."""

    def __init__(self, data, workers, log=None):
        self.log_path = log or data.file("server-%d.log" % workers)
        self.log = open(self.log_path, "wb")  # pylint: disable=consider-using-with
        arguments = [data.binary, "serve", "--data", data.path, "--grpc-port", "0",
                     "--workers", str(workers)]
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            arguments, stdout=subprocess.PIPE, stderr=self.log)
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
        sys.exit("the server did not start: %s\n%s" % (text.decode(errors="replace"), self.errors()))

    def errors(self, limit=4000):
        with open(self.log_path, encoding="utf-8", errors="replace") as f:
            return f.read()[-limit:]

    def alive(self):
        return self.process.poll() is None

    def stop(self):
        """The exit code; a server that does not stop within 20 s is killed (code None)."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = None
        self.process.stdout.close()
        self.log.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.code = self.stop()
