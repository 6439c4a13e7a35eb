"""Execution documents: the state of an execution is read only from what Ferryman wrote, although others may create documents.

An application creates documents in the same collection to ask for runs. `ADMITTED` marks those that are executions, and a
document that was only ever created, and not changed since, is read as new, whatever it says of its state: nothing but its
request counts. Whether a new execution was really started here is in its owner's occupancy, and asked for at its claim.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from ferryman.domain.executions.execution import Execution, ExecutionSummary
from ferryman.domain.executions.request import REQUEST_FIELDS
from ferryman.gcp import documents
from ferryman.gcp.documents import StoredDocument
from ferryman.gcp.store import Condition, Reference, get_readable

ADMITTED = "admitted"
"""True for an execution, false for a request that was refused; an application's document has no such field."""

IS_WAITING = "is_waiting"
"""A field that is true while an execution waits for a person, so that those that do are found."""

IMPORTING = "importing"
"""A field of a document that an import is about to make an execution of: it asks for no run."""

IS_EXECUTION: Condition = (ADMITTED, "==", True)
"""The condition of every query of executions."""

IS_REFUSED: Condition = (ADMITTED, "==", False)
"""The condition of a query of requests that were refused."""

CREATION_FIELDS = frozenset(
    (
        *REQUEST_FIELDS,
        *("id", "workspace", "agent", "person", "created_at", "question", "answer", "titled_answer"),
        *("called_tool", "is_from_client"),
        *("model", "enable_tools"),
        *("scheduled_for", "schedule_generation", "retention_days", "trace"),
    )
)
"""The fields of an execution that may have a value when it is created; every other one is as it always begins."""

SUMMARY_FIELDS = (*documents.name_fields(ExecutionSummary), ADMITTED)
"""The fields of an execution that a list reads."""

Value = TypeVar("Value", Execution, ExecutionSummary)

UNREADABLE = object()
"""The value of a field that cannot be read: a reference into another database, for instance."""


def write_execution(execution: Execution) -> dict[str, Any]:
    """Return the whole document of an execution, which replaces any other."""
    return {**documents.write(execution), "labels": dict(execution.labels), ADMITTED: True}


def read_execution(snapshot: StoredDocument) -> Execution | None:
    """Return the execution in `snapshot`, or None where there is none: no document, or one that somebody else wrote."""
    return _read(Execution, snapshot)


def read_summary(snapshot: StoredDocument) -> ExecutionSummary | None:
    """Return what a list tells of the execution in `snapshot`, of which `SUMMARY_FIELDS` suffice; None likewise."""
    return _read(ExecutionSummary, snapshot)


def _read(kind: type[Value], snapshot: StoredDocument) -> Value | None:
    document = snapshot.to_dict() if snapshot.exists else None
    if document is None or document.get(ADMITTED) is not True:
        return None
    if is_unchanged(snapshot):
        document = {name: value for name, value in document.items() if name in CREATION_FIELDS}
    try:
        execution = documents.read(kind, {**document, "labels": json.dumps(document.get("labels", {}))})
    except (TypeError, ValueError, documents.UnreadableDocumentError):
        return None
    return execution if execution.id == snapshot.id else None


def is_unchanged(snapshot: StoredDocument) -> bool:
    """Tell whether the document is as it was created. Firestore keeps both times itself: no writer can set them."""
    unchanged: bool = snapshot.create_time == snapshot.update_time
    return unchanged


def is_refused(snapshot: StoredDocument) -> bool:
    """Tell whether the document is a request that was refused, which only a later write than its creation can say."""
    return not is_unchanged(snapshot) and (snapshot.to_dict() or {}).get(ADMITTED) is False


async def read_request(reference: Reference) -> Mapping[str, Any] | None:
    """Return the fields of the request in a document, or None where there is none that waits for an answer."""
    snapshot = await get_readable(reference, names=(*REQUEST_FIELDS, ADMITTED, IMPORTING))
    if snapshot is not None:
        is_request = snapshot.exists and not is_refused(snapshot) and IMPORTING not in (snapshot.to_dict() or {})
        return snapshot.to_dict() if is_request else None
    single = {name: await get_readable(reference, names=(name,)) for name in REQUEST_FIELDS}
    return {name: UNREADABLE if snapshot is None else (snapshot.to_dict() or {}).get(name) for name, snapshot in single.items()}
