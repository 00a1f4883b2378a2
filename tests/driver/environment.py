"""Where things are, and the Python packages that the runners need.

Only the standard library until enter() has run the script again inside PROJECT/.venv, which it
makes first when it is missing. Several runners may start at once: a file lock orders them.
"""
import fcntl
import glob
import os
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROJECT = os.path.dirname(TESTS)
VENV = os.path.join(PROJECT, ".venv")
# Servers whose workers read their own partitions only.
ISOLATED = os.environ.get("KOIOS_ISOLATE") == "1"
REQUIREMENTS = os.path.join(TESTS, "driver", "requirements.txt")


def shared_folder(name):
    """A folder beside the project ($KOIOS_SHARED, else ../shared), or None when it is absent."""
    root = os.environ.get("KOIOS_SHARED") or os.path.join(os.path.dirname(PROJECT), "shared")
    path = os.path.join(root, name)
    return path if os.path.isdir(path) else None


def find_binary(given):
    """The koios to test: as given, $KOIOS_BINARY, else the newest below build/."""
    built = glob.glob(os.path.join(PROJECT, "build*", "app", "koios"))
    built += glob.glob(os.path.join(PROJECT, "build", "*", "app", "koios"))
    path = given or os.environ.get("KOIOS_BINARY") or max(built, key=os.path.getmtime, default=None)
    if not path or not os.access(path, os.X_OK):
        sys.exit("no koios binary%s; build it or name it with --koios" %
                 (" at " + path if path else " below " + os.path.join(PROJECT, "build")))
    return os.path.abspath(path)


def _read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return None


def _make_venv():
    os.makedirs(VENV, exist_ok=True)
    stamp, wanted = os.path.join(VENV, "installed.txt"), _read(REQUIREMENTS)
    with open(os.path.join(VENV, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _read(stamp) == wanted:
            return
        print("making %s ..." % VENV, flush=True)
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([os.path.join(VENV, "bin", "pip"), "install", "-q",
                        "--disable-pip-version-check", "-r", REQUIREMENTS], check=True)
        with open(stamp, "w", encoding="utf-8") as f:
            f.write(wanted)


def enter():
    """Goes on inside the venv; the script starts again from its first line."""
    if os.path.realpath(sys.prefix) == os.path.realpath(VENV):
        return
    _make_venv()
    python = os.path.join(VENV, "bin", "python")
    sys.stdout.flush()
    os.execv(python, [python] + sys.argv)


def make_stubs(folder):
    """Python classes of proto/*.proto in `folder`, which goes on the path of modules."""
    from grpc_tools import protoc
    protos = sorted(glob.glob(os.path.join(PROJECT, "proto", "*.proto")))
    os.makedirs(folder, exist_ok=True)
    well_known = os.path.join(os.path.dirname(protoc.__file__), "_proto")
    arguments = ["protoc", "-I" + PROJECT, "-I" + well_known, "--python_out=" + folder,
                 "--grpc_python_out=" + folder]
    if protoc.main(arguments + protos) != 0:
        sys.exit("protoc failed")
    sys.path.insert(0, folder)
