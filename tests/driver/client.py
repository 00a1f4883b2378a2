"""Submit over gRPC with plain Python values: rows come back as koios.v1.Value messages, bulks
unrolled, so that every test sees the exact types. Needs environment.make_stubs() before it is
imported."""
import itertools

import grpc
from proto import service_pb2, service_pb2_grpc, value_pb2

MAX_MESSAGE_BYTES = 64 << 20
_MEMBER = {"longs": "long_value", "ints": "int_value", "doubles": "double_value",
           "bools": "bool_value", "strings": "string_value"}


class QueryError(Exception):
    """The server's answer was an error. code: the canonical name, detail: ErrorDetail or None."""

    def __init__(self, code, message, detail):
        super().__init__("%s %s" % (code, message))
        self.code, self.message, self.detail = code, message, detail


def value_of(x):
    """bool, int (32 bits where it fits), float, str, None, list, dict to a Value; Values stay."""
    if isinstance(x, value_pb2.Value):
        return x
    v = value_pb2.Value()
    if x is None:
        v.null.SetInParent()
    elif isinstance(x, bool):
        v.bool_value = x
    elif isinstance(x, int):
        if -2**31 <= x < 2**31:
            v.int_value = x
        else:
            v.long_value = x
    elif isinstance(x, float):
        v.double_value = x
    elif isinstance(x, str):
        v.string_value = x
    elif isinstance(x, (list, tuple)):
        v.list_value.SetInParent()
        v.list_value.items.extend(value_of(i) for i in x)
    elif isinstance(x, dict):
        v.map_value.SetInParent()
        for key, item in x.items():
            v.map_value.entries.add(key=value_of(key), value=value_of(item))
    else:
        raise TypeError("no koios value for " + repr(x))
    return v


MAX_ROWS = 200_000


def _rows_of(batch):
    column = batch.WhichOneof("column")
    if column is None:
        return
    if column == "values":
        rows = batch.values.items
    elif column == "vertices":
        rows = [value_pb2.Value(vertex_value=v) for v in batch.vertices.values]
    else:
        member = _MEMBER[column]
        rows = [value_pb2.Value(**{member: x}) for x in getattr(batch, column).values]
    if batch.bulk and len(batch.bulk) != len(rows):
        raise ValueError("a batch of %d rows has %d bulks" % (len(rows), len(batch.bulk)))
    for i, row in enumerate(rows):
        for _ in range(batch.bulk[i] if batch.bulk else 1):
            yield row


def _detail_of(error):
    from proto import rpc_status_pb2
    for key, data in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status = rpc_status_pb2.RpcStatus.FromString(data)
            for packed in status.details:
                detail = value_pb2.ErrorDetail()
                if packed.Unpack(detail):
                    return detail
    return None


class Client:
    """wait_for_ready: a request waits for a server that is just starting again. joins_summary: the
    last rows and the summary come in one message."""

    def __init__(self, address, wait_for_ready=False, joins_summary=True):
        self.wait_for_ready, self.joins_summary = wait_for_ready, joins_summary
        options = [("grpc.max_receive_message_length", MAX_MESSAGE_BYTES)]
        self.channel = grpc.insecure_channel(address, options=options)
        self.stub = service_pb2_grpc.KoiosStub(self.channel)

    def submit(self, query, parameters=None, graph="", timeout=30.0, mode="RUN", materialize=False):
        """The rows (Values) and the summary. Raises QueryError, with the code TOO_MANY_ROWS past
        MAX_ROWS (a bulk stands for any number), or grpc.RpcError when no server answered."""
        request = service_pb2.SubmitRequest(
            query=query, graph=graph, mode=service_pb2.Mode.Value(mode), materialize=materialize,
            timeout_ms=max(1, int(timeout * 1000)), joins_summary=self.joins_summary)
        for name, x in (parameters or {}).items():
            request.parameters[name].CopyFrom(value_of(x))
        rows, summary = [], None
        try:
            call = self.stub.Submit(request, timeout=timeout + 2,
                                    wait_for_ready=self.wait_for_ready)
            for response in call:
                kind = response.WhichOneof("kind")
                if kind != "summary":
                    batch = response.batch if kind == "batch" else response.end.batch
                    room = MAX_ROWS + 1 - len(rows)
                    rows.extend(itertools.islice(_rows_of(batch), room))
                    if len(rows) > MAX_ROWS:
                        call.cancel()
                        raise QueryError("TOO_MANY_ROWS", "more than %d rows" % MAX_ROWS, None)
                if kind != "batch":
                    summary = response.summary if kind == "summary" else response.end.summary
        except grpc.RpcError as e:
            if e.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
                raise
            raise QueryError(e.code().name, e.details() or "", _detail_of(e)) from None
        if summary is None:
            raise QueryError("INTERNAL", "the stream ended without a summary", None)
        return rows, summary

    def close(self):
        self.channel.close()
