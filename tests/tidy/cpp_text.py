"""C++ as the rules see it: code without comments, literals and directives, and where functions are.

Rule: a line stays the line it was, so that every finding can name its place.
"""

import re
from typing import Iterator, NamedTuple

_TOKEN = re.compile(
    r'//(?:[^\n\\]|\\.)*'
    r'|/\*.*?\*/'
    r'|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|(?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+'",
    re.DOTALL)
_DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.MULTILINE | re.DOTALL)
_TEMPLATE = re.compile(r'^\s*(?:template\s*<[^{;]*?>\s*(?=[\w:~\[(])|\[\[[^\]]*\]\]\s*)+')
_ACCESS = re.compile(r'(?:\s|(?:public|protected|private)\s*:)*')
_CONTAINER = re.compile(r'^\s*(?:inline\s+)?(?:namespace|class|struct|union|extern\s*"")(?:\W|$)')
_INIT_LIST = re.compile(r'\)\s*(?:noexcept\s*)?:\s*[^:\s]')
_NAME = re.compile(r'([~\w:]+|operator\s*\S+)\s*\(')


def _blank(match: 're.Match[str]') -> str:
    text = match.group(0)
    newlines = '\n' * text.count('\n')
    return newlines if text.startswith(('//', '/*')) else '""' + newlines


def code_of(text: str) -> str:
    """`text` without comments and with empty literals; as many lines as before."""
    return _TOKEN.sub(_blank, text)


def without_directives(code: str) -> str:
    """`code` without #define, #include, ...; as many lines as before."""
    return _DIRECTIVE.sub(lambda match: '\n' * match.group(0).count('\n'), code)


class Function(NamedTuple):
    name: str
    line: int  # where its signature begins, from 1
    num_lines: int


def _skip_braces(code: str, start: int) -> int:
    """The position behind the brace that closes the one at `start`."""
    depth = 0
    for position in range(start, len(code)):
        if code[position] == '{':
            depth += 1
        elif code[position] == '}':
            depth -= 1
            if depth == 0:
                return position + 1
    return len(code)


def _is_function(head: str) -> bool:
    """Whether a brace after `head` opens a function's body; else it is a value in braces."""
    head = head.rstrip()
    if '(' not in head or head.endswith(('=', ',', 'return')):
        return False
    in_init_list = _INIT_LIST.search(head) and re.search(r'[\w>]$', head)
    return not in_init_list


def functions_of(text: str) -> Iterator[Function]:
    """Functions with a body, at namespace and class level. Lambdas belong to where they stand."""
    code = without_directives(code_of(text))
    position = head_start = 0
    parentheses = 0
    while position < len(code):
        char = code[position]
        if char == '(':
            parentheses += 1
        elif char == ')':
            parentheses -= 1
        elif char == '{':
            begin = _ACCESS.match(code, head_start, position).end()
            head = _TEMPLATE.sub('', code[begin:position])
            if parentheses == 0 and _CONTAINER.match(head):
                head_start = position + 1
            else:
                end = _skip_braces(code, position)
                if parentheses == 0 and _is_function(head):
                    name = _NAME.search(head)
                    yield Function(name.group(1) if name else '(unnamed)',
                                   code.count('\n', 0, begin) + 1,
                                   code.count('\n', begin, end) + 1)
                    head_start = end
                position = end
                continue
        elif char in ';}' and parentheses <= 0:
            head_start = position + 1
            parentheses = 0
        position += 1


_TYPE = re.compile(r'(?:template <.*> )?(?:class|struct|enum class|enum|union) '
                   r'(?:\w+\(.*\) )?(\w+)')
_ALIAS = re.compile(r'using (\w+) = (.*)')
_CONSTANT = re.compile(r'(?:inline |static )?(?:constexpr|const|thread_local)\b[^;={(]*?(\w+)'
                       r'(?:\[.*?\])? *[={;]')
_FUNCTION = re.compile(r'[\w:<>,*&\[\] ]+?[ *&](\w+)\(')


class UnnamedName(NamedTuple):
    """What an unnamed namespace defines. `alias`: what it stands for; empty when it is none."""
    line: int
    name: str
    alias: str


def unnamed_names(lines) -> Iterator[UnnamedName]:
    """Types, constants, functions and aliases of the unnamed namespaces of a source."""
    inside, number = False, 0
    while number < len(lines):
        line, first = lines[number], number + 1
        inside = line == 'namespace {' or (inside and line != '}  // namespace')
        if inside and line and line[0] not in ' }#/)':
            while line.count('(') > line.count(')') and number + 1 < len(lines):
                number += 1
                line += ' ' + lines[number].strip()
            type_or_constant = _TYPE.match(line) or _CONSTANT.match(line)
            alias, function = _ALIAS.match(line), _FUNCTION.match(line)
            if type_or_constant:
                yield UnnamedName(first, type_or_constant.group(1), '')
            elif alias:
                yield UnnamedName(first, *alias.groups())
            elif function and not line.startswith('TEST'):
                yield UnnamedName(first, function.group(1), '')
        number += 1
