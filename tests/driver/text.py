"""koios.v1 Values as canonical text, one line each, with the type in the text: 29 is an int, 29L a
long, 0.5 a double, 0.5f a float, "29" a string; a string that is a plain word stands bare."""
import datetime
import re
import uuid

from proto import value_pb2

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?: [A-Za-z0-9_]+)*$")
_WORDS = {"true", "false", "null", "NaN", "Infinity"}
_SUFFIX = {"byte_value": "b", "short_value": "s", "int_value": "", "long_value": "L",
           "bigint_value": "n", "bigdecimal_value": "m", "float_value": "f", "double_value": ""}


def quoted(s):
    if _BARE.match(s) and s not in _WORDS:
        return s
    for a, b in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        s = s.replace(a, b)
    return '"%s"' % s


def real(x, suffix):
    if x != x or x in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(x)] + suffix
    text = "%.7g" % x if suffix else repr(x)
    return (text if re.search(r"[.e]", text) else text + ".0") + suffix


class Printer:
    """sort_lists: for lists whose order nothing fixes; sort_maps: for maps, likewise."""

    def __init__(self, sort_lists=False, sort_maps=True):
        self.sort_lists, self.sort_maps = sort_lists, sort_maps

    def text(self, v):
        kind = v.WhichOneof("kind")
        if kind is None:
            return "unset"
        return getattr(self, "_" + kind, self._number)(v, kind)

    def _number(self, v, kind):
        x = getattr(v, kind)
        if kind in ("float_value", "double_value"):
            return real(x, _SUFFIX[kind])
        return "%s%s" % (x, _SUFFIX[kind])

    def _join(self, items, sort):
        return ",".join(sorted(items) if sort else items)

    def _null(self, v, kind):
        return "null"

    def _bool_value(self, v, kind):
        return "true" if v.bool_value else "false"

    def _string_value(self, v, kind):
        return quoted(v.string_value)

    def _char_value(self, v, kind):
        return "char:" + quoted(chr(v.char_value))

    def _datetime_value(self, v, kind):
        d = v.datetime_value
        zone = datetime.timezone(datetime.timedelta(seconds=d.offset_seconds))
        moment = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        moment += datetime.timedelta(seconds=d.seconds, microseconds=d.nanos // 1000)
        return "dt:" + moment.astimezone(zone).isoformat().replace("+00:00", "Z")

    def _duration_value(self, v, kind):
        return "duration:%d.%09d" % (v.duration_value.seconds, v.duration_value.nanos)

    def _uuid_value(self, v, kind):
        return "uuid:%s" % uuid.UUID(bytes=v.uuid_value)

    def _binary_value(self, v, kind):
        return "binary:" + v.binary_value.hex()

    def _list_value(self, v, kind):
        return "[%s]" % self._join([self.text(x) for x in v.list_value.items], self.sort_lists)

    def _set_value(self, v, kind):
        return "{%s}" % self._join([self.text(x) for x in v.set_value.items], True)

    def _map_value(self, v, kind):
        entries = v.map_value.entries
        if not entries:
            return "[:]"
        return "[%s]" % self._join(
            ["%s:%s" % (self.text(e.key), self.text(e.value)) for e in entries], self.sort_maps)

    def _vertex_value(self, v, kind):
        return "v[%s]" % self._id(v.vertex_value.id)

    def _id(self, v):
        """Ids of elements are of one kind whatever the width: 1, or a bare string."""
        kind = v.WhichOneof("kind")
        if kind in ("int_value", "long_value"):
            return str(getattr(v, kind))
        return v.string_value if kind == "string_value" else self.text(v)

    def _edge_value(self, v, kind):
        e = v.edge_value
        return "e[%s][%s-%s->%s]" % (self._id(e.id), self._id(e.out_id), e.label, self._id(e.in_id))

    def _vertex_property_value(self, v, kind):
        p = v.vertex_property_value
        return "vp[%s->%s]" % (p.key, self.text(p.value))

    def _property_value(self, v, kind):
        p = v.property_value
        return "p[%s->%s]" % (p.key, self.text(p.value))

    def _path_value(self, v, kind):
        return "path[%s]" % ",".join(self.text(x) for x in v.path_value.objects)

    def _token_value(self, v, kind):
        return "T." + {"KEY": "key", "VALUE": "value", "ID": "id", "LABEL": "label"}[
            value_pb2.Token.Name(v.token_value)]

    def _direction_value(self, v, kind):
        return "D." + value_pb2.Direction.Name(v.direction_value)
