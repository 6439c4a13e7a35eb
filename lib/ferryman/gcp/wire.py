"""Firestore's own messages, for the requests of every turn: of the client's processor time, its layers over them take the most.

The connection and who is asking are the client's; so are the errors, and what is tried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient

    from ferryman.gcp.store import Reference

TIMEOUT_S = 60.0
_SERVICE = "/google.firestore.v1.Firestore/"
_TRIED_AGAIN = {
    "BatchGetDocuments": ("DeadlineExceeded", "InternalServerError", "ResourceExhausted", "ServiceUnavailable"),
    "Commit": ("ResourceExhausted", "ServiceUnavailable"),
}
"""The errors after which the client sends a request again."""


@dataclass(frozen=True, slots=True)
class MaskedDocument:
    """The fields of a document that were asked for, None where there is no document; and its times, to be compared alone.

    It is read like a snapshot of the client's (`documents.StoredDocument`).
    """

    id: str
    fields: Mapping[str, Any] | None
    create_time: Any = None
    update_time: Any = None

    @property
    def exists(self) -> bool:
        return self.fields is not None

    def to_dict(self) -> dict[str, Any] | None:
        return None if self.fields is None else dict(self.fields)


class FirestoreWire:
    """The requests of one client."""

    def __init__(self, client: AsyncClient) -> None:
        opened: Any = client
        self._database: str = opened._database_string
        self._channel = opened._firestore_api.transport.grpc_channel
        self._metadata = (
            ("google-cloud-resource-prefix", self._database),
            ("x-goog-request-params", f"database={quote(self._database, safe='')}"),
        )
        self._get = self._build_call("BatchGetDocuments", is_stream=True)
        self._commit = self._build_call("Commit", is_stream=False)

    async def read(self, references: Sequence[Reference], names: Iterable[str]) -> dict[str, MaskedDocument]:
        """Return these fields of several documents, read at once, by path. Raise ValueError for a value that `decode` does
        not read."""
        message = _messages()["BatchGetDocumentsRequest"]
        paths = {get_path(reference): reference.path for reference in references}
        request = message(database=self._database, documents=list(paths), mask={"field_paths": list(names)})
        by_path = {}
        for answer in await self._get(request):
            if answer.missing:
                by_path[paths[answer.missing]] = MaskedDocument(_get_id(answer.missing), None)
            elif answer.found.name:
                document = answer.found
                fields = {name: decode(value) for name, value in document.fields.items()}
                by_path[paths[document.name]] = MaskedDocument(
                    _get_id(document.name), fields, document.create_time, document.update_time
                )
        return by_path

    async def commit(
        self,
        changed: Reference,
        change: Mapping[str, Any],
        created: Iterable[tuple[Reference, Mapping[str, Any]]] = (),
        *,
        since: Any,
    ) -> Any:
        """Change fields of a document that was last written at `since`, and create the others: all of it, or nothing.

        Return when the document was last written now, for a next `since`.
        Raise FailedPrecondition, NotFound or AlreadyExists where a document is not as it should be.
        """
        request = _messages()["CommitRequest"](database=self._database)
        write = request.writes.add()
        _encode_fields(write.update, changed, change)
        write.update_mask.field_paths.extend(change)
        write.current_document.update_time.CopyFrom(since)
        for reference, document in created:
            write = request.writes.add()
            _encode_fields(write.update, reference, document)
            write.current_document.exists = False
        answer = await self._commit(request)
        return answer.write_results[0].update_time

    def _build_call(self, name: str, *, is_stream: bool) -> Any:
        from google.api_core import exceptions, grpc_helpers_async
        from google.api_core.retry import AsyncRetry, if_exception_type

        build = self._channel.unary_stream if is_stream else self._channel.unary_unary
        wrap: Any = grpc_helpers_async.wrap_errors  # the library has no types here
        call = wrap(
            build(
                _SERVICE + name,
                request_serializer=lambda request: request.SerializeToString(),
                response_deserializer=_messages()[f"{name}Response"].FromString,
            )
        )

        async def send(request: Any) -> Any:
            answering = call(request, metadata=self._metadata, timeout=TIMEOUT_S)
            return [answer async for answer in await answering] if is_stream else await answering

        kinds = [getattr(exceptions, kind) for kind in _TRIED_AGAIN[name]]
        return AsyncRetry(predicate=if_exception_type(*kinds), initial=0.1, maximum=60.0, multiplier=1.3, timeout=TIMEOUT_S)(
            send
        )


_wires: WeakKeyDictionary[AsyncClient, FirestoreWire] = WeakKeyDictionary()


def get_wire(client: AsyncClient) -> FirestoreWire:
    """Return the one of this client, over its own channel."""
    if client not in _wires:
        _wires[client] = FirestoreWire(client)
    return _wires[client]


def _get_id(path: str) -> str:
    return path.rpartition("/")[2]


def get_path(reference: Reference) -> str:
    """Return the full name of a document."""
    named: Any = reference
    path: str = named._document_path
    return path


@cache
def _messages() -> Mapping[str, Any]:
    from google.cloud.firestore_v1.types import firestore

    names = ("BatchGetDocumentsRequest", "BatchGetDocumentsResponse", "CommitRequest", "CommitResponse")
    return {name: getattr(firestore, name).pb() for name in names}


def _encode_fields(document: Any, reference: Reference, fields: Mapping[str, Any]) -> None:
    document.name = get_path(reference)
    for name, value in fields.items():
        encode(document.fields[name], value)


def encode(field: Any, value: Any) -> None:
    """Set the message of a field to a value as documents have them."""
    if isinstance(value, str):
        field.string_value = value
    elif value is None:
        field.null_value = 0
    elif isinstance(value, bool):
        field.boolean_value = value
    elif isinstance(value, int):
        field.integer_value = value
    elif isinstance(value, float):
        field.double_value = value
    elif isinstance(value, Mapping):
        field.map_value.SetInParent()
        for name, inner in value.items():
            encode(field.map_value.fields[name], inner)
    elif isinstance(value, list | tuple):
        field.array_value.SetInParent()
        for inner in value:
            encode(field.array_value.values.add(), inner)
    elif isinstance(value, datetime):
        field.timestamp_value.FromDatetime(value)
    elif isinstance(value, bytes):
        field.bytes_value = value
    else:
        raise TypeError(f"a {type(value).__name__} cannot be stored")


def decode(field: Any) -> Any:
    """Return the value in the message of a field. Raise ValueError for a kind that documents of ours do not have."""
    kind = field.WhichOneof("value_type")
    if kind in ("string_value", "boolean_value", "integer_value", "double_value", "bytes_value"):
        return getattr(field, kind)
    if kind == "timestamp_value":
        return field.timestamp_value.ToDatetime(tzinfo=UTC)
    if kind == "map_value":
        return {name: decode(inner) for name, inner in field.map_value.fields.items()}
    if kind == "array_value":
        return [decode(inner) for inner in field.array_value.values]
    if kind == "null_value":
        return None
    raise ValueError(f"the document holds a {kind}")
