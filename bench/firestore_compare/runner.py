"""Run steps on a Firestore at an address by raw calls, and return their results as comparable values."""

from __future__ import annotations

import math
from typing import Any

import grpc

from bench.firestore_compare.steps import REMOVED, Find, Transact, Write
from emulator.firestore.wire import Document, StructuredQuery, Value, message, micros
from emulator.firestore.wire import Write as Wire

SERVICE = "/google.firestore.v1.Firestore/"
STREAMS = {"BatchGetDocuments", "RunQuery", "RunAggregationQuery"}
RESPONSES = {"BeginTransaction": "BeginTransactionResponse", "Commit": "CommitResponse"}
OPERATORS = StructuredQuery.FieldFilter.Operator
UNARIES = StructuredQuery.UnaryFilter.Operator
UNARY = {"IS_NULL", "IS_NAN", "IS_NOT_NULL", "IS_NOT_NAN"}
REQUEST_TIME = 1
LONG_AGO = 1_577_836_800_000_000


class CallFailedError(Exception):
    """A call ended with this status."""


class FirestoreRunner:
    """Runs steps in a project of its own. Times become the number of the step that set them, so that two can be compared."""

    def __init__(self, channel: grpc.aio.Channel, project: str) -> None:
        self._channel = channel
        self.database = f"projects/{project}/databases/(default)"
        self._root = f"{self.database}/documents"
        self._step = 0
        self._times: dict[int, int] = {}
        self._known: dict[str, list[int]] = {}
        """The update times that each document has had."""

    async def run(self, step: Any) -> Any:
        """Return the result of a step: its values, or the name of the status it was refused with."""
        self._step += 1
        if isinstance(step, Transact):
            return await self._transact(step)
        try:
            match step:
                case str():
                    return await self._get(step, b"")
                case Find():
                    return await self._find(step, b"")
                case _:
                    return await self._commit(step, b"")
        except CallFailedError as error:
            return str(error)

    async def _call(self, name: str, **fields: Any) -> Any:
        # An empty token would still be a token to the calls that can open a transaction themselves.
        request = message(f"{name}Request")(**{field: value for field, value in fields.items() if value != b""})
        response = message(RESPONSES.get(name, f"{name}Response")) if name != "Rollback" else Document
        make = self._channel.unary_stream if name in STREAMS else self._channel.unary_unary
        call = make(
            f"{SERVICE}{name}", request_serializer=type(request).SerializeToString, response_deserializer=response.FromString
        )
        metadata = (("google-cloud-resource-prefix", self.database), ("authorization", "Bearer owner"))
        try:
            if name in STREAMS:
                return [item async for item in call(request, metadata=metadata, timeout=30)]
            return await call(request, metadata=metadata, timeout=30)
        except grpc.aio.AioRpcError as error:
            raise CallFailedError(error.code().name) from error

    async def _transact(self, step: Transact) -> Any:
        options: dict[str, dict[str, bool]] = {"read_only": {}} if step.read_only else {"read_write": {}}
        token = (await self._call("BeginTransaction", database=self.database, options=options)).transaction
        results: list[Any] = []
        try:
            for read in step.reads:
                reading = self._get(read, token) if isinstance(read, str) else self._find(read, token)
                results += [await reading]
            if step.end == "rollback":
                await self._call("Rollback", database=self.database, transaction=token)
                return [*results, "rolled back"]
            results.append(await self._commit(step.writes, token))
        except CallFailedError as error:
            results.append(str(error))
            try:
                await self._call("Rollback", database=self.database, transaction=token)
            except CallFailedError:
                results.append("no rollback")
            return results
        if step.end == "twice":
            try:
                await self._commit(step.writes, token)
            except CallFailedError as error:
                results.append(str(error))
        return results

    async def _commit(self, writes: tuple[Write, ...], token: bytes) -> Any:
        wires = [self._build_write(write) for write in writes]
        response = await self._call("Commit", database=self.database, writes=wires, transaction=token)
        results = []
        for write, result in zip(writes, response.write_results, strict=True):
            at = micros(result.update_time) if result.HasField("update_time") else None
            if at is not None:
                self._known.setdefault(write.document, []).append(at)
                self._times.setdefault(at, self._step)
            results.append(
                (
                    self._times[at] if at is not None else None,
                    [to_plain(transform_result) for transform_result in result.transform_results],
                )
            )
        return results

    def _build_write(self, write: Write) -> Wire:
        name = f"{self._root}/{write.document}"
        match write.kind:
            case "delete":
                wire = Wire(delete=name)
            case "set":
                wire = Wire(update=Document(name=name, fields={key: to_value(value) for key, value in write.content.items()}))
            case "update":
                wire = Wire(update=Document(name=name), update_mask={"field_paths": list(write.content)})
                for path, value in write.content.items():
                    if value != REMOVED:
                        put(wire.update.fields, path, to_value(value))
            case _:
                wire = Wire(update=Document(name=name), update_mask={"field_paths": []})
                for path, (kind, operand) in write.content.items():
                    step = wire.update_transforms.add(field_path=path)
                    if kind == "set_to_server_value":
                        step.set_to_server_value = REQUEST_TIME
                    elif isinstance(operand, list):
                        getattr(step, kind).values.extend(to_value(item) for item in operand)
                        getattr(step, kind).SetInParent()
                    else:
                        getattr(step, kind).CopyFrom(to_value(operand))
        if write.condition in {"exists", "missing"}:
            wire.current_document.exists = write.condition == "exists"
        elif write.condition is not None:
            known = self._known.get(write.document, [LONG_AGO])
            stale = next((at for at in known if at != known[-1]), known[-1] - 1_000_000)
            at = known[-1] if write.condition == "current" else stale
            wire.current_document.update_time.seconds, rest = divmod(at, 1_000_000)
            wire.current_document.update_time.nanos = rest * 1000
        return wire

    async def _get(self, document: str, token: bytes) -> Any:
        name = f"{self._root}/{document}"
        for response in await self._call("BatchGetDocuments", database=self.database, documents=[name], transaction=token):
            if response.HasField("found"):
                return self._describe(response.found)
        return None

    def _describe(self, document: Any) -> Any:
        times = (micros(document.create_time), micros(document.update_time))
        fields = {key: to_plain(value) for key, value in sorted(document.fields.items())}
        return document.name.removeprefix(f"{self._root}/"), fields, [self._times.get(at, "unknown") for at in times]

    async def _find(self, find: Find, token: bytes) -> Any:
        query = build_query(find)
        if find.total is None:
            responses = await self._call("RunQuery", parent=self._root, structured_query=query, transaction=token)
            return [self._describe(response.document) for response in responses if response.HasField("document")]
        total = {"sum": {"field": {"field_path": find.total}}} if find.total else {"count": {}}
        aggregation = {"structured_query": query, "aggregations": [{"alias": "total", **total}]}
        responses = await self._call(
            "RunAggregationQuery", parent=self._root, structured_aggregation_query=aggregation, transaction=token
        )
        return to_plain(responses[0].result.aggregate_fields["total"])


def build_query(find: Find) -> StructuredQuery:
    query = StructuredQuery()
    query.from_.add(collection_id="c", all_descendants=find.group)
    parts = []
    for path, operator, operand in find.filters:
        if operator in UNARY:
            parts.append({"unary_filter": {"field": {"field_path": path}, "op": UNARIES.Value(operator)}})
        else:
            value = {"field": {"field_path": path}, "op": OPERATORS.Value(operator), "value": to_value(operand)}
            parts.append({"field_filter": value})
    if parts:
        query.where.composite_filter.op = 1
        for part in parts:
            query.where.composite_filter.filters.add(**part)
    for path, descending in find.orders:
        query.order_by.add(field={"field_path": path}, direction=2 if descending else 1)
    if find.limit:
        query.limit.value = find.limit
    query.offset = find.offset
    for cursor, place in ((query.start_at, find.start), (query.end_at, find.end)):
        if place is not None and find.orders:
            cursor.values.append(to_value(place[0]))
            cursor.before = place[1]
    return query


def put(fields: Any, path: str, value: Value) -> None:
    *parents, last = path.split(".")
    for parent in parents:
        fields = fields[parent].map_value.fields
    fields[last].CopyFrom(value)


def to_value(value: Any) -> Value:
    """Return the protobuf value of a plain one."""
    match value:
        case None:
            return Value(null_value=0)
        case bool():
            return Value(boolean_value=value)
        case int():
            return Value(integer_value=value)
        case float():
            return Value(double_value=value)
        case str():
            return Value(string_value=value)
        case bytes():
            return Value(bytes_value=value)
        case list():
            return Value(array_value={"values": [to_value(item) for item in value]})
    return Value(map_value={"fields": {key: to_value(item) for key, item in value.items()}})


def to_plain(value: Value) -> Any:
    """Return the content of a protobuf value, such that equal values print alike; a time set by the server is only "now"."""
    match value.WhichOneof("value_type"):
        case None | "null_value":
            return None
        case "double_value":
            return "NaN" if math.isnan(value.double_value) else value.double_value
        case "array_value":
            return [to_plain(item) for item in value.array_value.values]
        case "map_value":
            return {key: to_plain(item) for key, item in sorted(value.map_value.fields.items())}
        case "timestamp_value":
            return "now"
        case kind:
            return getattr(value, kind)
