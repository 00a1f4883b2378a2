"""What the driver knows of a peer: a process of its own with a bound on its memory and on the time
of every request, which is ended whatever happens."""
import json
import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from typing import NamedTuple, Optional

LOAD_SECONDS = 1800
OPEN_SECONDS = 300
GRACE_SECONDS = 5  # for an engine that ends a query by itself


class PeerError(Exception):
    """The peer answered with an error, or can't do this."""


class TimedOut(PeerError):
    """No answer in time."""


class Gone(PeerError):
    """The process ended, or was ended for its memory."""


class Reply(NamedTuple):
    rows: list
    seconds: float  # that the client waited
    engine_seconds: Optional[float] = None  # what the server says that it took


def resident(pid):
    """Bytes of memory of a process, with what it has mapped of files."""
    try:
        with open("/proc/%d/status" % pid, encoding="utf-8") as f:
            for line in f:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def tied(command):
    """The command of a process that ends when the driver does, however that ends."""
    tie = shutil.which("setpriv")
    return [tie, "--pdeathsig", "KILL", *command] if tie else command


class Watch:
    """Ends a process that has more memory than it may."""

    def __init__(self, process, limit_bytes):
        self.process, self.limit_bytes, self.exceeded = process, limit_bytes, False
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self):
        while self.process.poll() is None:
            if resident(self.process.pid) > self.limit_bytes:
                self.exceeded = True
                kill(self.process)
            time.sleep(0.1)


def kill(process):
    """Ends a process and waits for its end."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait()


class LineProcess:
    """A program that answers each line on its standard input with one line."""

    def __init__(self, command, limit_bytes, log, folder=None):
        with open(log, "ab") as errors:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                tied(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                cwd=folder)
        self.watch = Watch(self.process, limit_bytes)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.text = b""

    def read(self, seconds):
        end = time.monotonic() + seconds
        while b"\n" not in self.text:
            left = end - time.monotonic()
            if left <= 0:
                self.close()
                raise TimedOut("no answer in %.0f s" % seconds)
            if self.selector.select(timeout=min(left, 1.0)):
                block = os.read(self.process.stdout.fileno(), 1 << 20)
                if not block:
                    self.close()
                    raise Gone("out of memory" if self.watch.exceeded else
                               "it ended (exit code %s)" % self.process.returncode)
                self.text += block
        line, self.text = self.text.split(b"\n", 1)
        return line.decode()

    def ask(self, line, seconds):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            self.close()
            raise Gone("out of memory" if self.watch.exceeded else "it ended") from None
        return self.read(seconds)

    def close(self):
        kill(self.process)
        self.process.stdin.close()
        self.process.stdout.close()


class Peer:
    """name: of the module and the folder; language: of its texts.
    A peer is used by one thread: load, then open, ask as often as wanted, close."""

    name = language = ""
    survives = True  # what was loaded is on disk
    process = None   # a LineProcess, of a peer that is one

    def __init__(self, data, options):
        self.data, self.options = data, options
        self.folder = os.path.join(data.folder, self.name)
        self.log = os.path.join(data.folder, self.name + ".log")

    def load(self):
        """Loads the data set into self.folder, anew. Seconds."""
        raise NotImplementedError

    def open(self):
        raise NotImplementedError

    def ask(self, text, parameters, seconds):
        """A Reply. Opens the peer where it is not open."""
        raise NotImplementedError

    def work(self, kind, connections, seconds):
        """{'rate': operations a second, 'median': s, 'p95': s} of point reads or commits by many
        connections, or None."""
        return None

    def pid(self):
        return self.process.process.pid if self.process else None

    def close(self):
        if self.process is not None:
            self.process.close()
            self.process = None

    def loaded(self):
        """What the load took, loading unless that was done before."""
        note = os.path.join(self.data.folder, self.name + "-loaded.json")
        if self.survives and os.path.exists(note) and not self.options.fresh:
            with open(note, encoding="utf-8") as f:
                return json.load(f)
        if os.path.exists(note):
            os.unlink(note)
        seconds = self.load()
        facts = {"load_seconds": seconds,
                 "disk_bytes": disk_bytes(self.folder) if self.survives else 0}
        with open(note, "w", encoding="utf-8") as f:
            json.dump(facts, f)
        return facts


def disk_bytes(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(path) for name in names)
