"""The reference server as a peer: one that listens, or one started from the shared folder."""
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from driver import environment

START_SECONDS = 180


class Reference:
    """None of it is there: `why` says so, and ask() must not be called. sources: names of graphs
    and the reference's names for them."""

    def __init__(self, url, sources):
        self.why, self.process, self.transport, self.log = "", None, None, None
        harness = environment.shared_folder(os.path.join("tools", "conformance"))
        if harness is None:
            self.why = "there is no shared/tools"
            return
        sys.path.insert(0, harness)
        if not url:
            url = self._start()
        if self.why:
            return
        from harness.transport import WebSocketTransport
        self.transport = WebSocketTransport(url, 30.0, sources, {})

    def _start(self):
        script = os.path.join(environment.shared_folder("tools"), "reference.sh")
        if not shutil.which("java") or not shutil.which("mvn"):
            self.why = "there is no Java or no Maven"
            return ""
        port = random.SystemRandom().randint(20000, 50000)
        folder = os.environ.get("KOIOS_REFERENCE_FOLDER") or os.path.join(
            tempfile.gettempdir(), "koios-reference-%d" % os.getuid())
        os.makedirs(folder, exist_ok=True)
        self.log = open(os.path.join(folder, "log"), "wb")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["bash", script, str(port), folder], stdout=self.log, stderr=self.log)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return "ws://127.0.0.1:%d/gremlin" % port
            time.sleep(0.5)
        self.why = "the reference server did not start, see %s/log" % folder
        self.stop()
        return ""

    def load(self, vertices, edges):
        self.ask("g.V().drop()", "random")
        for text in adding(vertices, edges):
            self.ask(text, "random")

    def ask(self, query, graph, parameters=None):
        return self.transport.submit(query, parameters or {}, graph, 20.0)

    def stop(self):
        if self.transport is not None:
            self.transport.close()
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        if self.log is not None:
            self.log.close()


def adding(vertices, edges):
    """The traversals that make them."""
    return ["g.addV('%s').property(T.id,%d)%s" % (label, number, _text(properties))
            for number, label, properties in vertices] + [
        "g.addE('%s').from(__.V(%d)).to(__.V(%d)).property(T.id,%d)%s" %
        (label, out, into, number, _text(properties))
        for number, out, label, into, properties in edges]


def _text(properties):
    return "".join(".property('%s',%s)" % (key, repr(value)) for key, value in properties.items())
