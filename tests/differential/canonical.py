"""A result as canonical text, from koios.v1.Value and from gremlinpython's classes alike. Numbers
by value, doubles to nine digits; lists and maps in any order, paths in theirs."""
import datetime

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def _number(x):
    if isinstance(x, float):
        text = "%.9g" % x
        return text if not text.lstrip("-").isdigit() else text + ".0"
    return str(x)


def _date(seconds, micros, offset):
    return "date(%d.%06d%+d)" % (seconds, micros, offset)


def _many(left, items, right):
    return left + ",".join(sorted(items)) + right


def _map(pairs):
    return _many("{", ["%s:%s" % pair for pair in pairs], "}")


_LISTS = {"list_value": "[]", "set_value": "{}"}


def of_koios(v):
    """REQUIRES: v has a kind."""
    kind = v.WhichOneof("kind")
    x = getattr(v, kind)
    if kind == "null":
        return "null"
    if kind in _LISTS:
        left, right = _LISTS[kind]
        return _many(left, [of_koios(item) for item in x.items], right)
    if kind == "map_value":
        return _map([(of_koios(e.key), of_koios(e.value)) for e in x.entries])
    if kind == "vertex_value":
        return "v[%s]" % of_koios(x.id)
    if kind == "edge_value":
        return "e[%s]" % of_koios(x.id)
    if kind == "path_value":
        return "path(%s)" % ",".join(of_koios(item) for item in x.objects)
    if kind == "token_value":
        return "T." + ("id", "label", "key", "value")[x]
    if kind == "direction_value":
        return "D." + ("OUT", "IN", "BOTH")[x]
    if kind == "string_value":
        return "'%s'" % x
    if kind == "datetime_value":
        return _date(x.seconds, x.nanos // 1000, x.offset_seconds)
    if kind == "bool_value":
        return str(x).lower()
    return _number(x)


def of_reference(x):
    from gremlin_python.process.traversal import Direction, T
    from gremlin_python.structure.graph import Edge, Path, Vertex
    if x is None:
        return "null"
    if isinstance(x, bool):
        return str(x).lower()
    if isinstance(x, str):
        return "'%s'" % x
    if isinstance(x, datetime.datetime):
        seconds = (x.replace(microsecond=0) - EPOCH) // datetime.timedelta(seconds=1)
        return _date(seconds, x.microsecond, x.utcoffset() // datetime.timedelta(seconds=1))
    if isinstance(x, Path):
        return "path(%s)" % ",".join(of_reference(item) for item in x.objects)
    if isinstance(x, Vertex):
        return "v[%s]" % of_reference(x.id)
    if isinstance(x, Edge):
        return "e[%s]" % of_reference(x.id)
    if isinstance(x, T):
        return "T." + x.name.rstrip("_")
    if isinstance(x, Direction):
        return "D." + {"from_": "OUT", "to": "IN"}.get(x.name, x.name)
    if hasattr(x, "items"):
        return _map([(of_reference(k), of_reference(y)) for k, y in x.items()])
    if isinstance(x, (set, frozenset)) or type(x).__name__ == "GSet":
        return _many("{", [of_reference(item) for item in x], "}")
    if isinstance(x, (list, tuple)):
        return _many("[", [of_reference(item) for item in x], "]")
    if hasattr(x, "value") and not isinstance(x, (int, float)):
        return of_reference(x.value)
    return _number(float(x) if isinstance(x, float) else int(x))
