"""Documents: how the domain's values are written to Firestore, and read back.

Decimals are strings; free-form JSON is one JSON string, since Firestore has no arrays in arrays; the rest has its own type.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, get_args, get_origin

from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from ferryman.domain.stored import get_stored_name
from ferryman.gcp.faults import is_transient

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncDocumentReference, AsyncTransaction

    from ferryman.domain.conversations.conversation import Conversation
    from ferryman.domain.executions.execution import Execution
    from ferryman.domain.jobs.job import Job
    from ferryman.domain.remote_servers.server import RemoteServer
    from ferryman.domain.tasks.task import Task
    from ferryman.domain.workspaces.agent import Agent
    from ferryman.domain.workspaces.workspace import Workspace

Value = TypeVar("Value")


class StoredDocument(Protocol):
    """A document as it was read, whichever way: its id and its times, or that there is none."""

    @property
    def id(self) -> str: ...
    @property
    def exists(self) -> bool: ...
    @property
    def create_time(self) -> Any: ...
    @property
    def update_time(self) -> Any: ...
    def to_dict(self) -> dict[str, Any] | None: ...


def _build_converter() -> Converter:
    converter = Converter()
    converter.register_unstructure_hook(Decimal, str)
    converter.register_structure_hook(Decimal, lambda value, _: Decimal(value))
    for kind in (datetime, bytes):
        converter.register_unstructure_hook(kind, lambda value: value)
        converter.register_structure_hook(kind, _check_kind)
    converter.register_unstructure_hook_factory(
        is_dataclass, lambda kind: make_dict_unstructure_fn(kind, converter, **_rename_fields(kind))
    )
    converter.register_structure_hook_factory(
        is_dataclass, lambda kind: make_dict_structure_fn(kind, converter, **_rename_fields(kind))
    )
    converter.register_unstructure_hook_func(_is_free_form, lambda value: json.dumps(value, ensure_ascii=False))
    converter.register_structure_hook_func(_is_free_form, lambda value, _: json.loads(value))
    return converter


def _check_kind(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"the value is no {kind.__name__}")
    return value


def _rename_fields(kind: Any) -> dict[str, Any]:
    return {field.name: override(rename=get_stored_name(field)) for field in fields(kind)}


def _is_free_form(kind: Any) -> bool:
    return get_origin(kind) is Mapping and not is_dataclass(get_args(kind)[1])


_CONVERTER = _build_converter()


def write(value: Any) -> dict[str, Any]:
    """Return the document of `value`, one of the domain's dataclasses."""
    document: dict[str, Any] = _CONVERTER.unstructure(value)
    return document


def prepare() -> None:
    """Compile what writes and reads the documents of an execution, which the first of each kind would otherwise wait for."""
    from ferryman.domain.calls.call import Ticket
    from ferryman.domain.executions.execution import Execution, ExecutionSetup, Step
    from ferryman.domain.tasks.task import Task

    for kind in (Task, Execution, ExecutionSetup, Step, Ticket):
        _CONVERTER.get_unstructure_hook(kind)
        _CONVERTER.get_structure_hook(kind)


def name_fields(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the fields of `kind`, as documents have them."""
    return tuple(get_stored_name(field) for field in fields(kind))


def write_fields(value: Any, *names: str) -> dict[str, Any]:
    """Return the fields `names` of `value`, as a document has them."""
    kind: Any = type(value)
    document: dict[str, Any] = _build_partial(kind, names)(value)
    return document


@cache
def _build_partial(kind: type[Any], names: tuple[str, ...]) -> Callable[[Any], dict[str, Any]]:
    """Return what writes these fields alone."""
    left_out = {field.name: override(omit=True) for field in fields(kind) if field.name not in names}
    return make_dict_unstructure_fn(kind, _CONVERTER, **(_rename_fields(kind) | left_out))


async def confirm_created(
    creation: Awaitable[Value],
    reference: AsyncDocumentReference,
    value: Conversation | Execution | Task | Agent | Workspace | Job | RemoteServer,
) -> Value | None:
    """Await the `creation` of the document of `value`, and return its result, or None where only its answer was lost.

    The client repeats a creation by itself, and is then told that the document exists: the one that it created. Raise
    AlreadyExists for a document of anybody else.
    """
    from google.api_core.exceptions import AlreadyExists, GoogleAPICallError

    try:
        return await creation
    except GoogleAPICallError as error:
        # it exists, or the transaction is closed: it was committed, and the answer was lost
        if not isinstance(error, AlreadyExists) and not is_transient(error):
            raise
        stored = (await reference.get()).to_dict() or {}
        if (stored.get("owner"), stored.get("created_at")) != (value.owner, value.created_at):
            raise
        return None


class UnreadableDocumentError(ValueError):
    """A document is not as Ferryman writes it: somebody else created or changed it."""


def read(kind: type[Value], document: Mapping[str, Any] | None) -> Value:
    """Return the `kind` that `document` holds, without fields that `kind` does not have.

    Raise KeyError where there is no document, `UnreadableDocumentError` where it holds something else.
    """
    if document is None:
        raise KeyError(kind.__name__)
    try:
        return _CONVERTER.structure(document, kind)
    except Exception as error:  # cattrs raises whatever the field's own type does
        raise UnreadableDocumentError(f"the document holds no {kind.__name__}") from error


def read_or_none(kind: type[Value], snapshot: StoredDocument) -> Value | None:
    """Return the `kind` in `snapshot`, or None where there is no document."""
    return read(kind, snapshot.to_dict()) if snapshot.exists else None


async def read_all(kind: type[Value], query: Any, transaction: AsyncTransaction | None = None) -> list[Value]:
    """Return the `kind` in each document that `query` finds."""
    return [read(kind, snapshot.to_dict()) async for snapshot in query.stream(transaction=transaction)]
