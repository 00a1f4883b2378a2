"""Golden files: parsing, and writing back with other expectations. The format is in README.md."""
import collections
import json
import re

SEPARATOR = re.compile(r"^----\s*(.*)$")


class Case:
    """One query with what is expected. flags: ordered, lists, any N; `first` and `last` are the
    lines of the file (from 0) that hold the expectation."""

    def __init__(self, path, line):
        self.path, self.line = path, line
        self.parameters, self.query, self.flags = {}, [], []
        self.expected, self.first = [], 0

    @property
    def statements(self):
        """All but the last end with a line that ends in a semicolon."""
        text = "\n".join(self.query)
        return [s.strip() for s in re.split(r";\n", text + "\n") if s.strip()]

    @property
    def one_line(self):
        return " ".join(" ".join(self.query).split())

    @property
    def mode(self):
        head = self.expected[0] if self.expected else ""
        if head.startswith("error:"):
            return "error"
        return "plan" if head == "plan:" else "rows"

    @property
    def any_count(self):
        """N of `any N`: so many rows, each of them among the expected ones; None without it."""
        for i, flag in enumerate(self.flags):
            if flag == "any":
                return int(self.flags[i + 1])
        return None

    def agrees(self, found):
        """found: rows as text, ["error: ..."], or ["plan:", ...]."""
        if self.mode == "error":
            head, *pieces = self.expected[0].split(" ... ")
            text = found[0] if found else ""
            at = len(head) if text.startswith(head) else -1
            for piece in pieces:
                at = text.lower().find(piece.lower(), at) if at >= 0 else -1
            return at >= 0
        if self.mode == "plan":
            rest = iter(found)
            return all(any(wanted.strip() in line for line in rest) for wanted in self.expected)
        if self.any_count is not None:
            left = collections.Counter(self.expected)
            left.subtract(collections.Counter(found))
            return len(found) == self.any_count and min(left.values(), default=0) >= 0
        return found == (self.expected if "ordered" in self.flags else sorted(self.expected))


class GoldenFile:
    def __init__(self, path):
        self.path, self.graph, self.cases = path, "modern", []
        self.setup, self.cleanup = [], []  # statements before and after each case
        with open(path, encoding="utf-8") as f:
            self.lines = f.read().split("\n")
        self._parse()

    def _parse(self):
        case, in_expected = None, False
        for number, line in enumerate(self.lines + [""]):
            separator = SEPARATOR.match(line)
            if in_expected and line.strip():
                case.expected.append(line.rstrip())
            elif not line.strip():
                if case is not None and not in_expected:
                    raise ValueError("%s:%d: a query without ----" % (self.path, number + 1))
                if case is not None:
                    self.cases.append(case)
                case, in_expected = None, False
            elif case is None and self._header(line):
                pass
            elif separator and case is not None:
                case.flags, case.first, in_expected = separator.group(1).split(), number + 1, True
            else:
                case = case or Case(self.path, number + 1)
                self._query_line(case, line)

    def _header(self, line):
        name, colon, rest = line.partition(":")
        if line.startswith("#"):
            return True
        if colon and name == "graph":
            self.graph = rest.strip()
            return True
        if colon and name in ("setup", "cleanup"):
            getattr(self, name).append(rest.strip())
            return True
        return False

    def _query_line(self, case, line):
        if line.startswith("with: "):
            for name, value in json.loads("{%s}" % line[len("with: "):]).items():
                case.parameters[name] = value
        else:
            case.query.append(line.rstrip())

    @property
    def preparation(self):
        return (["g.V().drop()"] if self.graph == "scratch" else []) + self.setup

    def rewrite(self, replaced):
        """replaced: {case: lines} of new expectations."""
        lines = list(self.lines)
        for case in sorted(replaced, key=lambda c: -c.first):
            lines[case.first:case.first + len(case.expected)] = replaced[case]
        with open(self.path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines))
