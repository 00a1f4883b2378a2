"""The conformance harness' way to koios: koios.v1 over gRPC (its --transport hook). A scenario's
graph goes into SubmitRequest.graph; values keep the type that they have on the wire."""
import datetime
import decimal
import os
import re
import sys
import uuid

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from driver import environment  # noqa: E402

environment.make_stubs(os.environ["KOIOS_STUBS"])
from aenum import Enum as AliasEnum  # noqa: E402
from driver.client import Client, QueryError  # noqa: E402
from gremlin_python import statics  # noqa: E402
from gremlin_python.process.traversal import Direction, Merge, T  # noqa: E402
from gremlin_python.structure.graph import (  # noqa: E402
    Edge, Path, Property, Vertex, VertexProperty)
from harness.transport import ServerError  # noqa: E402
from harness.values import Float32, Float64, GMap, GSet, Int32  # noqa: E402
from proto import value_pb2  # noqa: E402

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def _decimal(text):
    x = decimal.Decimal(text)
    sign, digits, exponent = x.as_tuple()
    unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
    return statics.BigDecimal(-exponent, unscaled)


def _datetime(d):
    zone = datetime.timezone(datetime.timedelta(seconds=d.offset_seconds))
    return (EPOCH + datetime.timedelta(seconds=d.seconds, microseconds=d.nanos // 1000)).astimezone(
        zone)


def _vertex(v):
    return Vertex(from_value(v.id), v.label,
                  [VertexProperty(from_value(p.id), p.key, from_value(p.value), None)
                   for p in v.properties])


def _edge(e):
    return Edge(from_value(e.id), Vertex(from_value(e.out_id), e.out_label), e.label,
                Vertex(from_value(e.in_id), e.in_label),
                [Property(p.key, from_value(p.value), None) for p in e.properties])


def _vertex_property(p):
    return VertexProperty(from_value(p.id), p.key, from_value(p.value), None)


def _path(p):
    return Path([set(x.labels) for x in p.labels], [from_value(x) for x in p.objects])


_FROM = {
    "null": lambda x: None, "bool_value": bool, "byte_value": statics.SingleByte,
    "short_value": statics.short, "int_value": Int32, "long_value": statics.long,
    "bigint_value": lambda x: statics.bigint(int(x)), "float_value": Float32,
    "double_value": Float64, "bigdecimal_value": _decimal, "string_value": str,
    "char_value": lambda x: statics.SingleChar(chr(x)), "datetime_value": _datetime,
    "duration_value": lambda d: datetime.timedelta(seconds=d.seconds, microseconds=d.nanos // 1000),
    "uuid_value": lambda x: uuid.UUID(bytes=x), "binary_value": statics.ByteBufferType,
    "list_value": lambda x: [from_value(i) for i in x.items],
    "set_value": lambda x: GSet(from_value(i) for i in x.items),
    "map_value": lambda x: GMap((from_value(e.key), from_value(e.value)) for e in x.entries),
    "vertex_value": _vertex, "edge_value": _edge, "vertex_property_value": _vertex_property,
    "property_value": lambda p: Property(p.key, from_value(p.value), None), "path_value": _path,
    "token_value": lambda x: T[{"ID": "id_", "LABEL": "label", "KEY": "key", "VALUE": "value"}[
        value_pb2.Token.Name(x)]],
    "direction_value": lambda x: Direction[value_pb2.Direction.Name(x)],
}


def from_value(v):
    kind = v.WhichOneof("kind")
    return _FROM[kind](getattr(v, kind))


def _enum_value(x):
    name = x.name.rstrip("_").upper()
    if isinstance(x, T):
        return value_pb2.Value(token_value=value_pb2.Token.Value(name))
    if isinstance(x, Direction):
        return value_pb2.Value(direction_value=value_pb2.Direction.Value(name))
    raise TypeError("no koios value for " + repr(x))


def _scalar(x):
    """Most special classes first: the numbers of gremlinpython are subclasses of int and float."""
    for classes, member in (
            (bool, "bool_value"), (statics.SingleByte, "byte_value"),
            (statics.short, "short_value"),
            (statics.bigint, "bigint_value"), (statics.long, "long_value"),
            (Float32, "float_value"), (float, "double_value"), (str, "string_value")):
        if isinstance(x, classes):
            plain = {"bigint_value": lambda i: str(int(i)), "float_value": float,
                     "double_value": float}.get(member, lambda i: i)
            return value_pb2.Value(**{member: plain(x)})
    if isinstance(x, int):
        return value_pb2.Value(**{"int_value" if -2**31 <= x < 2**31 else "long_value": int(x)})
    return None


def _moment(x):
    moment = x if x.tzinfo else x.replace(tzinfo=datetime.timezone.utc)
    since = moment - EPOCH
    return value_pb2.Value(datetime_value=value_pb2.DateTime(
        seconds=since.days * 86400 + since.seconds, nanos=since.microseconds * 1000,
        offset_seconds=int(moment.utcoffset().total_seconds())))


def _element(x):
    if isinstance(x, Vertex):
        return value_pb2.Value(vertex_value=value_pb2.Vertex(id=to_value(x.id), label=x.label))
    if isinstance(x, Edge):
        return value_pb2.Value(edge_value=value_pb2.Edge(
            id=to_value(x.id), label=x.label, out_id=to_value(x.outV.id), out_label=x.outV.label,
            in_id=to_value(x.inV.id), in_label=x.inV.label))
    return value_pb2.Value(vertex_property_value=value_pb2.VertexProperty(
        id=to_value(x.id), key=x.label, value=to_value(x.value)))


def to_value(x):
    """A scenario's parameter, as harness.values.to_binding() gives it, to a Value."""
    v = value_pb2.Value()
    if x is None:
        v.null.SetInParent()
        return v
    if isinstance(x, AliasEnum):
        return _enum_value(x)
    if isinstance(x, (decimal.Decimal, statics.BigDecimal)):
        v.bigdecimal_value = str(x.value if isinstance(x, statics.BigDecimal) else x)
        return v
    if isinstance(x, datetime.datetime):
        return _moment(x)
    if isinstance(x, uuid.UUID):
        v.uuid_value = x.bytes
        return v
    if isinstance(x, (Vertex, Edge, VertexProperty)):
        return _element(x)
    if isinstance(x, (set, frozenset, GSet)):
        v.set_value.SetInParent()
        v.set_value.items.extend(to_value(i) for i in x)
        return v
    if isinstance(x, (list, tuple)):
        v.list_value.SetInParent()
        v.list_value.items.extend(to_value(i) for i in x)
        return v
    if isinstance(x, (dict, GMap)):
        v.map_value.SetInParent()
        for key, item in x.items():
            v.map_value.entries.add(key=to_value(key), value=to_value(item))
        return v
    scalar = _scalar(x)
    if scalar is None:
        raise TypeError("no koios value for " + repr(x))
    return scalar


def _holds_merge(x):
    return isinstance(x, dict) and any(isinstance(item, Merge) for item in x.values())


def _literal(x):
    """What stands in a map with a Merge, which is a word of the language and no value."""
    if isinstance(x, AliasEnum):
        word = {"out_v": "outV", "in_v": "inV"}.get(x.name, x.name.rstrip("_"))
        return "(%s.%s)" % (type(x).__name__, word)
    if isinstance(x, str):
        return "'%s'" % x.replace("\\", "\\\\").replace("'", "\\'")
    if isinstance(x, int) and not isinstance(x, bool):
        return str(int(x))
    raise TypeError("no literal for " + repr(x))


def _with_literals(gremlin, bindings):
    """The traversal with the maps that hold a Merge written out, and the other parameters."""
    written = {name: x for name, x in bindings.items() if _holds_merge(x)}
    for name, x in written.items():
        entries = ", ".join("%s: %s" % (_literal(key), _literal(item).strip("()"))
                            for key, item in x.items())
        gremlin = re.sub(r"\b%s\b" % re.escape(name), lambda _, t=entries: "[%s]" % t, gremlin)
    return gremlin, {name: x for name, x in bindings.items() if name not in written}


class KoiosTransport:
    """url: host:port of a koios server."""

    def __init__(self, url, timeout, sources, options):
        self.url, self.sources, self.client = url, sources, None

    def submit(self, gremlin, bindings, graph, timeout):
        self.client = self.client or Client(self.url, wait_for_ready=True)
        gremlin, bindings = _with_literals(gremlin, bindings)
        parameters = {name: to_value(x) for name, x in bindings.items()}
        try:
            rows, _ = self.client.submit(gremlin, parameters, self.sources[graph], timeout)
        except QueryError as e:
            if e.code == "DEADLINE_EXCEEDED":
                raise ServerError(e.message, 598) from None
            raise ServerError(e.message, e.code) from None
        return [from_value(row) for row in rows]

    def reconnect(self):
        self.close()

    def close(self):
        client, self.client = self.client, None
        if client is not None:
            client.close()
