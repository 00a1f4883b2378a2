"""The rules of the house that a machine can check; the table RULES at the end is all of them.

A rule is a function from the tree to findings. To add one: copy check_columns, add it to RULES,
and add a bad and a good sample to tidy_test.py.
"""

import collections
import re
from typing import Iterator, NamedTuple

from cpp_text import functions_of, unnamed_names
from source_tree import SourceFile, SourceTree


class Finding(NamedTuple):
    path: str
    line: int  # from 1; 0: the whole file or folder
    message: str


# Which top-level folders a folder may include or link, besides itself. `tests`, `bench`, `app` and
# `examples` stand above all and may include any.
ARROWS = {
    'proto': (),
    'core': ('proto',),
    'parser': ('core',),
    'planner': ('parser', 'core', 'proto'),
    'storage': ('core',),
    'import': ('storage', 'core'),
    'engine': ('storage', 'core', 'proto'),
    'server': ('engine', 'planner', 'parser', 'storage', 'core', 'proto'),
    'client': ('proto', 'core', 'parser'),
    # The simulation links no gRPC, so that the thread sanitizer can run it.
    'tests/simulation': ('tests', 'engine', 'storage', 'core', 'proto'),
}

# Headers of libraries, and the only places that include them.
LIBRARIES = (
    (re.compile(r'rocksdb/'), ('storage/rocks/',)),
    (re.compile(r'grpc(pp)?/|.*\.grpc\.pb\.h$'), ('server/', 'client/', 'bench/compare/')),
    (re.compile(r'antlr4-runtime|(.*/)?Gremlin\.h$'), ('parser/',)),
    (re.compile(r'CLI/'), ('app/',)),
    (re.compile(r'spdlog/'), ('core/log.',)),
    (re.compile(r'boost/multiprecision/'), ('core/big_number.',)),
    (re.compile(r'readline/'), ()),  # GPL; histedit.h is the one to use
)
GENERATED_HEADERS = re.compile(r'((proto|tests/simulation)/\w+(\.grpc)?\.pb|Gremlin)\.h$')

MAX_HEADER_LINES = 400
MAX_SOURCE_LINES = 700
MAX_FUNCTION_LINES = 70
MAX_COLUMNS = 100
MAX_README_LINES = 40
MAX_NOUNS = 20
# Folders of which each has programs of its own.
SEVERAL_PROGRAMS = ('bench', 'examples', 'tests')

# Spelled in pieces, so that this file passes its own test.
MARKS = re.compile(r'\b(' + '|'.join(('TO' 'DO', 'FIX' 'ME', 'XX' 'X', 'HA' 'CK')) + r')\b')
MACHINE_PATHS = re.compile(r'(?<![\w.~)}\]*-])/(' + '|'.join(('wo' 'rk', 'ro' 'ot', 'ho' 'me'))
                           + r')(?=/|["\'`\s]|$)')
EMPTY_WORDS = r'(utils?|helpers?|common|managers?)'
EMPTY_FILE_NAME = re.compile(r'(^|_)' + EMPTY_WORDS + r'$')
EMPTY_TYPE_NAME = re.compile(
    r'\b(?:class|struct|enum(?:\s+class)?|namespace|using)\s+'
    r'(\w*(?:Utils?|Helpers?|Common|Managers?)|(?:\w+_)?' + EMPTY_WORDS + r')\b(?=\s*[:{=;])')
LOCKS = re.compile(
    r'\b(std::(\w+_)?mutex|std::condition_variable(_any)?|absl::(Mutex|CondVar))\b')
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]')
LIBRARY_CALL = re.compile(r'\bkoios_library\(\s*(\w+)\s([^)]*)\)')


def _includes(file: SourceFile) -> Iterator[tuple]:
    """(line, '<' or '"', path) of each include."""
    for number, line in enumerate(file.lines, 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def _room(file: SourceFile) -> str:
    """The key of ARROWS that holds for the file; empty: it may include any."""
    inner = '/'.join(file.path.split('/')[:2])
    return next((room for room in (inner, file.top) if room in ARROWS), '')


def check_arrows(tree: SourceTree) -> Iterator[Finding]:
    rooms = {room for room in ARROWS if '/' not in room} | {'app', 'tests', 'bench', 'examples'}
    for file in tree.files:
        room = _room(file)
        if not file.is_cpp or not room:
            continue
        for number, kind, path in _includes(file):
            target = path.partition('/')[0]
            allowed = ARROWS[room] + (file.top,)
            if kind == '"' and '/' in path and target in rooms and target not in allowed:
                may = ', '.join(ARROWS[room]) or 'nothing else'
                yield Finding(file.path, number,
                              f'{room}/ includes {path}, but may use only {may}')


def check_circles(tree: SourceTree) -> Iterator[Finding]:
    """The sub-folders of a folder include each other in one direction."""
    arrows = collections.defaultdict(dict)  # from a sub-folder to others: where it says so first
    for file in tree.files:
        room = '/'.join(file.path.split('/')[:2])
        if not file.is_cpp or file.path.count('/') < 2 or file.name.endswith('_test.cc'):
            continue
        for number, _, path in _includes(file):
            target = '/'.join(path.split('/')[:2])
            if path.count('/') > 1 and target != room and path.startswith(file.top + '/'):
                arrows[room].setdefault(target, (file.path, number, path))
    for room in sorted(arrows):
        for target, (path, line, include) in sorted(arrows[room].items()):
            way, seen = [target], {target}
            while way:
                for further in arrows.get(way.pop(), ()):
                    if further not in seen:
                        seen.add(further)
                        way.append(further)
            if room in seen:
                yield Finding(path, line, f'{include} closes a circle: {target}/ leads to {room}/')


def check_links(tree: SourceTree) -> Iterator[Finding]:
    """The links of CMake say the same as the arrows."""
    for file in tree.files:
        if file.name != 'CMakeLists.txt':
            continue
        for call in LIBRARY_CALL.finditer(file.text):
            folder = call.group(1)
            line = file.text.count('\n', 0, call.start()) + 1
            for target in re.findall(r'\bkoios_(\w+)\b', call.group(2)):
                if target == 'rpc':
                    allowed = folder in ('server', 'client')
                elif target == 'grammar':
                    allowed = folder == 'parser'
                else:
                    allowed = target in ARROWS.get(folder, (target,))
                if not allowed:
                    yield Finding(file.path, line,
                                  f'{folder} links koios_{target} against the arrows')


def check_libraries(tree: SourceTree) -> Iterator[Finding]:
    for file in tree.files:
        if not file.is_cpp:
            continue
        for number, _, path in _includes(file):
            for pattern, places in LIBRARIES:
                if pattern.match(path) and not file.path.startswith(places or '\0'):
                    where = ' and '.join(place + ('*' if place[-1] == '.' else '')
                                         for place in places) or 'nowhere'
                    yield Finding(file.path, number, f'{path} is included in {where} only')


def check_include_paths(tree: SourceTree) -> Iterator[Finding]:
    """Includes of our files are from the root; a .cc includes its own header first."""
    tops = {file.top for file in tree.files if file.is_cpp or file.path.endswith('.proto')}
    for file in tree.files:
        if not file.is_cpp:
            continue
        includes = list(_includes(file))
        for number, kind, path in includes:
            ours = kind == '"' and ('/' not in path or path.partition('/')[0] in tops)
            if ours and not tree.find(path) and not GENERATED_HEADERS.match(path):
                yield Finding(file.path, number,
                              f'"{path}" is no file: includes are written from the root')
        own = re.sub(r'(_test)?\.cc$', '.h', file.path)
        if not file.is_header and tree.find(own) and includes and includes[0][2] != own:
            yield Finding(file.path, includes[0][0], f'the first include is its own header, {own}')


def check_lengths(tree: SourceTree) -> Iterator[Finding]:
    for file in tree.files:
        if not file.is_cpp:
            continue
        limit = MAX_HEADER_LINES if file.is_header else MAX_SOURCE_LINES
        if len(file.lines) > limit:
            yield Finding(file.path, 0, f'{len(file.lines)} lines; the limit is {limit}')
        for function in functions_of(file.text):
            if function.num_lines > MAX_FUNCTION_LINES:
                yield Finding(file.path, function.line,
                              f'{function.name} has {function.num_lines} lines; '
                              f'the limit is {MAX_FUNCTION_LINES}')


def check_columns(tree: SourceTree) -> Iterator[Finding]:
    for file in tree.files:
        if not file.is_source:
            continue
        for number, line in enumerate(file.lines, 1):
            if len(line) > MAX_COLUMNS:
                yield Finding(file.path, number,
                              f'{len(line)} columns; the limit is {MAX_COLUMNS}')
            if '\t' in line:
                yield Finding(file.path, number, 'a tab; indent with blanks')


def check_readmes(tree: SourceTree) -> Iterator[Finding]:
    tops = {file.top for file in tree.files
            if file.is_source and file.top and not file.top.startswith('.')}
    for top in sorted(tops - {'cmake'}):
        readme = tree.find(top + '/README.md')
        if readme is None:
            yield Finding(top, 0, 'has no README.md')
        elif len(readme.lines) > MAX_README_LINES:
            yield Finding(readme.path, 0,
                          f'{len(readme.lines)} lines; the limit is {MAX_README_LINES}')


def check_headers(tree: SourceTree) -> Iterator[Finding]:
    for file in tree.files:
        if not file.is_header:
            continue
        if not file.lines or not file.lines[0].startswith('// '):
            yield Finding(file.path, 1, 'a header begins with a comment: what it is for')
        code = [line for line in file.lines if line.strip() and not line.startswith('//')]
        if not code or code[0] != '#pragma once':
            yield Finding(file.path, 1, '#pragma once follows the comment')


def check_marks(tree: SourceTree) -> Iterator[Finding]:
    for file in tree.files:
        for number, line in enumerate(file.lines, 1):
            mark = MARKS.search(line)
            if mark:
                yield Finding(file.path, number, f'{mark.group(1)}: finish it or take it out')


def check_machine_paths(tree: SourceTree) -> Iterator[Finding]:
    for file in tree.files:
        for number, line in enumerate(file.lines, 1):
            path = MACHINE_PATHS.search(line)
            if path:
                yield Finding(file.path, number, f'{path.group(0)} is a path of one machine')


def check_locks(tree: SourceTree) -> Iterator[Finding]:
    """Locks are the annotated ones of core/mutex.h; the thread sanitizer does not see Abseil's."""
    for file in tree.files:
        if not file.is_cpp or file.path.startswith('core/mutex'):
            continue
        match = LOCKS.search(file.code)
        if match:
            line = file.code.count('\n', 0, match.start()) + 1
            yield Finding(file.path, line, f'{match.group(0)}: locks are those of core/mutex.h')


def check_names(tree: SourceTree) -> Iterator[Finding]:
    for file in tree.files:
        if not file.is_cpp:
            if re.search(r'\.(cpp|cxx|hpp|hh|c)$', file.path):
                yield Finding(file.path, 0, 'sources end in .h and .cc')
            continue
        stem = file.name.rpartition('.')[0]
        if EMPTY_FILE_NAME.search(stem):
            yield Finding(file.path, 0, 'the name says nothing: name the noun that is in it')
        if not re.fullmatch(r'[a-z][a-z0-9_]*', stem):
            yield Finding(file.path, 0, 'file names are snake_case')
        for match in EMPTY_TYPE_NAME.finditer(file.code):
            line = file.code.count('\n', 0, match.start()) + 1
            yield Finding(file.path, line, f'the name {match.group(1)} says nothing')


def check_nouns(tree: SourceTree) -> Iterator[Finding]:
    nouns = collections.defaultdict(set)
    for file in tree.files:
        if file.is_cpp:
            nouns[file.folder].add(re.sub(r'(_test)?\.(h|cc)$', '', file.name))
    for folder, names in sorted(nouns.items()):
        if len(names) > MAX_NOUNS:
            yield Finding(folder, 0, f'{len(names)} nouns; the limit is {MAX_NOUNS}: '
                                     'make a sub-folder')


def check_unnamed(tree: SourceTree) -> Iterator[Finding]:
    """Builds with KOIOS_UNITY compile sources of several folders of a library as one, its tests
    as another.

    Two files may have an alias of one text. Functions must differ by name, not only by what they
    take: overloads that were written for two files can make a call ambiguous, or take it over.
    """
    known = {}
    for file in tree.files:
        if not file.path.endswith('.cc'):
            continue
        parts = file.folder.split('/')
        room = file.folder if parts[0] in SEVERAL_PROGRAMS else parts[0]
        room = room, file.path.endswith('_test.cc')
        for line, name, alias in unnamed_names(file.lines):
            other, same = known.setdefault((room, name), (file.path, alias))
            if other != file.path and not (alias and alias == same):
                yield Finding(file.path, line, f'{name} is in {other}, too: builds from nothing '
                                               'compile these as one')


RULES = (check_arrows, check_circles, check_links, check_libraries, check_include_paths,
         check_lengths, check_columns, check_readmes, check_headers, check_marks,
         check_machine_paths, check_locks, check_names, check_nouns, check_unnamed)
