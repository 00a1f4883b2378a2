"""Gets the peers into build/compare and builds what is ours. A peer that can't be had is a Missing,
never the end of the run."""
import os
import shutil
import subprocess
import sys

import versions
from driver import environment

FETCH_SECONDS = 900
_POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>compare</groupId><artifactId>%s</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies>
%s  </dependencies>
</project>
"""
_DEPENDENCY = ("    <dependency><groupId>%s</groupId><artifactId>%s</artifactId>"
               "<version>%s</version></dependency>\n")


class Missing(Exception):
    """Why a peer is left out."""


def root():
    folder = os.path.join(environment.PROJECT, "build", "compare")
    os.makedirs(folder, exist_ok=True)
    return folder


def _run(command, what):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=FETCH_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise Missing("%s: %s" % (what, e)) from None
    if done.returncode != 0:
        lines = (done.stderr + done.stdout).strip().splitlines() or [str(done.returncode)]
        raise Missing("%s: %s" % (what, lines[-1][:200]))


def _fetched(folder, wanted, fetch):
    """Fetches into `folder` unless that was done before with the same `wanted`."""
    stamp = os.path.join(folder, "fetched.txt")
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as f:
            if f.read() == wanted:
                return
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    fetch()
    with open(stamp, "w", encoding="utf-8") as f:
        f.write(wanted)


def python_of(peer):
    """The Python that has the peer's packages."""
    folder = os.path.join(root(), "python-" + peer)
    packages = versions.PYTHON[peer]

    def fetch():
        print("fetching %s ..." % " ".join(packages), file=sys.stderr)
        _run([sys.executable, "-m", "venv", folder], "no virtual environment")
        _run([os.path.join(folder, "bin", "pip"), "install", "-q", "--disable-pip-version-check",
              *packages], "not fetched")

    _fetched(folder, " ".join(packages), fetch)
    return os.path.join(folder, "bin", "python")


def jars_of(peer):
    """The folder of the peer's Java libraries."""
    for program in ("java", "javac", "mvn"):
        if not shutil.which(program):
            raise Missing("there is no " + program)
    folder = os.path.join(root(), "java-" + peer)
    pom = _POM % (peer, "".join(_DEPENDENCY % x for x in versions.JAVA[peer]))

    def fetch():
        print("fetching the libraries of %s ..." % peer, file=sys.stderr)
        path = os.path.join(folder, "pom.xml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(pom)
        _run(["mvn", "-q", "-B", "-f", path, "dependency:copy-dependencies",
              "-DoutputDirectory=" + os.path.join(folder, "lib"), "-DincludeScope=runtime"],
             "not fetched")

    _fetched(folder, pom, fetch)
    return os.path.join(folder, "lib")


def compiled_java(peer, source):
    """The class path of a Java program of ours, compiled against the peer's libraries."""
    jars = os.path.join(jars_of(peer), "*")
    classes = os.path.join(root(), "classes-" + peer)
    if not os.path.isdir(classes) or os.path.getmtime(classes) < os.path.getmtime(source):
        shutil.rmtree(classes, ignore_errors=True)
        _run(["javac", "-nowarn", "-cp", jars, "-d", classes, source], "not compiled")
    return classes + os.pathsep + jars


def built(target, given, folder):
    """A program of ours: as given, else built in the release preset."""
    if given:
        if not os.access(given, os.X_OK):
            sys.exit("no program at %s" % given)
        return os.path.abspath(given)
    path = os.path.join(environment.PROJECT, "build", "release", folder, target)
    for command in (["cmake", "--preset", "release"],
                    ["cmake", "--build", "--preset", "release", "--parallel",
                     str(os.cpu_count()), "--target", target]):
        done = subprocess.run(command, cwd=environment.PROJECT, stdout=sys.stderr, check=False)
        if done.returncode != 0:
            sys.exit("%s was not built" % target)
    return path
