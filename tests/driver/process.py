"""What a process may use and does use: control groups with a memory limit, resident memory."""
import glob
import os
import tempfile
import time


class MemoryGroup:
    """A control group with a memory limit, of version 1 or 2 (`with MemoryGroup(bytes) as group`).
    `problem` says why there is none; else `prefix` starts a program in it."""

    def __init__(self, limit_bytes):
        self.limit_bytes, self.path, self.version, self.problem = limit_bytes, None, 0, None

    def __enter__(self):
        problems = []
        for version, root, file in ((1, "/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                                    (2, "/sys/fs/cgroup", "memory.max")):
            try:
                self.path = tempfile.mkdtemp(prefix="koios-test-", dir=root)
                self.version = version
                with open(os.path.join(self.path, file), "w", encoding="utf-8") as f:
                    f.write(str(self.limit_bytes))
                return self
            except OSError as e:
                problems.append(str(e))
                self._remove()
        self.problem = "no memory control group can be made: " + "; ".join(problems)
        return self

    def __exit__(self, *unused):
        self._remove()

    def _remove(self):
        for _ in range(50):
            try:
                if self.path:
                    os.rmdir(self.path)
                break
            except OSError:
                time.sleep(0.1)  # a process in it is just ending
        self.path = None

    @property
    def prefix(self):
        procs = os.path.join(self.path, "cgroup.procs")
        return ["sh", "-c", 'echo $$ > "%s" && exec "$0" "$@"' % procs]

    def _number(self, file, word=None):
        with open(os.path.join(self.path, file), encoding="utf-8") as f:
            for line in f:
                parts = line.split()
                if word is None or parts[0] == word:
                    return int(parts[-1])
        return 0

    def kills(self):
        file = "memory.oom_control" if self.version == 1 else "memory.events"
        return self._number(file, "oom_kill")

    def peak(self):
        """Bytes, with the files that the kernel caches; None where the kernel does not say."""
        file = "memory.max_usage_in_bytes" if self.version == 1 else "memory.peak"
        return self._number(file) if os.path.exists(os.path.join(self.path, file)) else None


def resident(pid):
    """Bytes of a process that are neither files nor shared."""
    with open("/proc/%d/status" % pid, encoding="utf-8") as f:
        for line in f:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) << 10
    raise OSError("no RssAnon of process %d" % pid)


def open_files(pid):
    return len(glob.glob("/proc/%d/fd/*" % pid))


def forget_files(path):
    """Takes the files below a folder out of the kernel's cache."""
    for folder, _, names in os.walk(path):
        for name in names:
            file = os.open(os.path.join(folder, name), os.O_RDONLY)
            try:
                os.fdatasync(file)
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(file)
