"""The files that the rules look at: what git knows or would add, else everything but build folders.

Rule: each file is read once; a rule gets text, never a path to open.
"""

import functools
import pathlib
import subprocess
from typing import Iterable, List, Optional

from cpp_text import code_of

_SKIPPED_FOLDERS = ('.git', '.venv', 'build', 'koios-data', '__pycache__')


class SourceFile:
    """One file: its path from the repository's root, and its text."""

    def __init__(self, path: str, text: str):
        self.path = path
        self.text = text
        self.lines = text.split('\n')
        if self.lines and not self.lines[-1]:
            self.lines.pop()

    @functools.cached_property
    def code(self) -> str:
        return code_of(self.text)

    @property
    def name(self) -> str:
        return self.path.rpartition('/')[2]

    @property
    def folder(self) -> str:
        return self.path.rpartition('/')[0]

    @property
    def top(self) -> str:
        """The top-level folder; empty for a file of the root."""
        return self.path.partition('/')[0] if '/' in self.path else ''

    @property
    def is_header(self) -> bool:
        return self.path.endswith('.h')

    @property
    def is_cpp(self) -> bool:
        return self.path.endswith(('.h', '.cc'))

    @property
    def is_source(self) -> bool:
        """Written by hand in some language: not prose, not data."""
        return self.name == 'CMakeLists.txt' or self.text.startswith('#!') or self.path.endswith(
            ('.h', '.cc', '.proto', '.g4', '.py', '.cmake'))


class SourceTree:
    def __init__(self, files: Iterable[SourceFile]):
        self.files: List[SourceFile] = sorted(files, key=lambda file: file.path)
        self._by_path = {file.path: file for file in self.files}

    def find(self, path: str) -> Optional[SourceFile]:
        return self._by_path.get(path)


def _paths(root: pathlib.Path) -> List[str]:
    if (root / '.git').exists():
        listed = subprocess.run(
            ['git', '-C', str(root), 'ls-files', '-z', '--cached', '--others',
             '--exclude-standard'], capture_output=True, check=False)
        if listed.returncode == 0:
            return sorted(set(filter(None, listed.stdout.decode().split('\0'))))
    paths = (path.relative_to(root) for path in root.rglob('*') if path.is_file())
    return [path.as_posix() for path in paths
            if not any(part in _SKIPPED_FOLDERS for part in path.parts)]


def read_tree(root: pathlib.Path) -> SourceTree:
    files = []
    for path in _paths(root):
        try:
            files.append(SourceFile(path, (root / path).read_text(encoding='utf-8')))
        except (UnicodeDecodeError, OSError):
            continue  # binary, or deleted and not yet committed
    return SourceTree(files)
