"""A small client of Koios over gRPC: text and Python values in, Python values out.

    with koios.connect('127.0.0.1:8183') as graph:
        for name in graph.submit("g.V().has('age', gt(years)).values('name')", {'years': 30}):
            print(name)

Results are read as they are made: leaving the loop early cancels what still runs. Needs the stubs
of ./make-stubs on the module path. Thread-safe, like the channel underneath.
"""

import datetime
import decimal
import uuid
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import grpc
from proto import rpc_status_pb2, service_pb2, service_pb2_grpc, value_pb2

_SCALARS = {
    'bool_value', 'byte_value', 'short_value', 'int_value', 'long_value', 'float_value',
    'double_value', 'string_value', 'binary_value'}


class Vertex(NamedTuple):
    id: Any
    label: str
    properties: Dict[str, Any]  # empty unless the request asked to materialize


class Edge(NamedTuple):
    id: Any
    label: str
    out_id: Any
    in_id: Any
    properties: Dict[str, Any]


class Path(NamedTuple):
    objects: List[Any]
    labels: List[List[str]]  # one list per object


class QueryError(Exception):
    """The server's answer. `code` is gRPC's name; `line` and `column` are 0, the others empty where unknown."""

    def __init__(self, code: str, message: str, detail: value_pb2.ErrorDetail):
        super().__init__(message)
        self.code, self.hint = code, detail.hint
        self.line, self.column = detail.line, detail.column
        self.step, self.limit, self.setting = detail.step, detail.limit, detail.setting


def to_value(x: Any) -> value_pb2.Value:
    """A parameter as the server takes it. An int is Gremlin's Integer where it fits, else Long."""
    value = value_pb2.Value()
    if x is None:
        value.null.SetInParent()
    elif isinstance(x, bool):
        value.bool_value = x
    elif isinstance(x, int):
        fits = next((bits for bits in (31, 63) if -1 << bits <= x < 1 << bits), None)
        if fits is None:
            value.bigint_value = str(x)
        else:
            setattr(value, 'int_value' if fits == 31 else 'long_value', x)
    elif isinstance(x, float):
        value.double_value = x
    elif isinstance(x, str):
        value.string_value = x
    elif isinstance(x, decimal.Decimal):
        value.bigdecimal_value = str(x)
    elif isinstance(x, uuid.UUID):
        value.uuid_value = x.bytes
    elif isinstance(x, (bytes, bytearray)):
        value.binary_value = bytes(x)
    elif isinstance(x, datetime.datetime):  # without a zone: UTC, as datetime('...') is
        zone = x.utcoffset() or datetime.timedelta()
        since = x.replace(tzinfo=None) - zone - datetime.datetime(1970, 1, 1)
        value.datetime_value.seconds, value.datetime_value.nanos = _seconds(since)
        value.datetime_value.offset_seconds = zone // datetime.timedelta(seconds=1)
    elif isinstance(x, datetime.timedelta):
        value.duration_value.seconds, value.duration_value.nanos = _seconds(x)
    elif isinstance(x, (set, frozenset)):
        value.set_value.SetInParent()
        value.set_value.items.extend(map(to_value, x))
    elif isinstance(x, (list, tuple)):
        value.list_value.SetInParent()
        value.list_value.items.extend(map(to_value, x))
    elif isinstance(x, dict):
        value.map_value.SetInParent()
        for key, item in x.items():
            value.map_value.entries.add(key=to_value(key), value=to_value(item))
    else:
        raise TypeError(f'{type(x).__name__} is no type of a parameter')
    return value


def _seconds(x: datetime.timedelta) -> Tuple[int, int]:
    """Whole seconds, also below 0, and the nanoseconds on top of them."""
    return x.days * 86_400 + x.seconds, x.microseconds * 1000


def _properties(properties) -> Dict[str, Any]:
    return {property.key: from_value(property.value) for property in properties}


def _datetime(x) -> datetime.datetime:
    zone = datetime.timezone(datetime.timedelta(seconds=x.offset_seconds))
    since = datetime.timedelta(seconds=x.seconds, microseconds=x.nanos // 1000)
    return (datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + since).astimezone(zone)


_CONVERSIONS = {
    'null': lambda x: None,
    'bigint_value': int,
    'bigdecimal_value': decimal.Decimal,
    'char_value': chr,
    'datetime_value': _datetime,
    'duration_value': lambda x: datetime.timedelta(seconds=x.seconds, microseconds=x.nanos // 1000),
    'uuid_value': lambda x: uuid.UUID(bytes=x),
    'list_value': lambda x: [from_value(item) for item in x.items],
    # A list: members of a set may be maps, which Python does not hash.
    'set_value': lambda x: [from_value(item) for item in x.items],
    'map_value': lambda x: {_key(entry.key): from_value(entry.value) for entry in x.entries},
    'vertex_value': lambda x: Vertex(from_value(x.id), x.label, _properties(x.properties)),
    'edge_value': lambda x: Edge(from_value(x.id), x.label, from_value(x.out_id),
                                 from_value(x.in_id), _properties(x.properties)),
    'vertex_property_value': lambda x: (x.key, from_value(x.value)),
    'property_value': lambda x: (x.key, from_value(x.value)),
    'path_value': lambda x: Path([from_value(item) for item in x.objects],
                                 [list(step.labels) for step in x.labels]),
    'token_value': lambda x: value_pb2.Token.Name(x).lower(),
    'direction_value': value_pb2.Direction.Name,
}


def _key(value: value_pb2.Value) -> Any:
    """A map's key: as it is, or as text where Python can't hash it."""
    key = from_value(value)
    try:
        hash(key)
    except TypeError:
        return repr(key)
    return key


def from_value(value: value_pb2.Value) -> Any:
    kind = value.WhichOneof('kind')
    if kind is None:
        raise ValueError('a value of a kind that these stubs do not know: make them again')
    x = getattr(value, kind)
    return x if kind in _SCALARS else _CONVERSIONS[kind](x)


def _rows(batch: service_pb2.ResultBatch) -> Iterator[Any]:
    column = batch.WhichOneof('column')
    if column is None:
        return
    if column == 'values':
        rows = map(from_value, batch.values.items)
    elif column == 'vertices':
        rows = (_CONVERSIONS['vertex_value'](vertex) for vertex in batch.vertices.values)
    else:
        rows = getattr(batch, column).values
    for number, row in enumerate(rows):
        for _ in range(batch.bulk[number] if batch.bulk else 1):
            yield row


def _query_error(error: grpc.RpcError) -> QueryError:
    detail = value_pb2.ErrorDetail()
    for key, data in error.trailing_metadata() or ():
        if key == 'grpc-status-details-bin':
            for packed in rpc_status_pb2.RpcStatus.FromString(data).details:
                packed.Unpack(detail)
    return QueryError(error.code().name, error.details(), detail)


class Client:
    def __init__(self, channel: grpc.Channel):
        self._channel = channel
        self._stub = service_pb2_grpc.KoiosStub(channel)

    def __enter__(self) -> 'Client':
        return self

    def __exit__(self, *unused) -> None:
        self._channel.close()

    def submit(self, query: str, parameters: Optional[Dict[str, Any]] = None, graph: str = '',
               materialize: bool = False, timeout: Optional[float] = None) -> Iterator[Any]:
        """Results, one by one. `timeout` is in seconds; None is the server's own. Raises
        QueryError."""
        request = service_pb2.SubmitRequest(query=query, graph=graph, materialize=materialize)
        for name, value in (parameters or {}).items():
            request.parameters[name].CopyFrom(to_value(value))
        call = self._stub.Submit(request, timeout=timeout)
        try:
            for response in call:
                if response.WhichOneof('kind') == 'batch':
                    yield from _rows(response.batch)
        except grpc.RpcError as error:
            raise _query_error(error) from None
        finally:
            call.cancel()


def connect(address: str) -> Client:
    options = [('grpc.max_receive_message_length', 64 << 20)]
    return Client(grpc.insecure_channel(address, options=options))
