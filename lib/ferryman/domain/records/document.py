"""Documents: the parts of a record as JSON values, in the one form that the API returns and that receipts cover.

Credits are decimal strings without trailing zeros; times are UTC, as ISO 8601 writes them with a Z, to the microsecond where
that is not zero; a number that is not finite is null.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from functools import cache, partial
from types import NoneType
from typing import Any

from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.credits.amount import format_credits
from ferryman.domain.credits.ledger import LedgerEntry, sort_entries
from ferryman.domain.executions.execution import Execution, ExecutionSetup, ExecutionSummary
from ferryman.domain.records.place import describe_place
from ferryman.domain.records.record import Record
from ferryman.domain.stored import get_left_out, get_stored_name

Document = dict[str, Any]

_SUMMARY = (
    *("status", "labels", "created_at", "scheduled_for", "started_at", "completed_at", "iterations", "credits_used"),
    *("credits_reserved", "credits_held", "usage", "tool_calls_total", "cancel_requested", "slice", "error"),
)
_PLACE = ("workspace_id", "agent_id", "person_id", "conversation_id", "cancelled_by", "taken_over_by", "answer", "question")
"""What a record has only where it says something."""

_WAITING = ("waiting_for", "waiting_since")
"""What no record has: it is of now."""

_PLAIN = frozenset((str, int, bool, NoneType))
"""What is its own JSON; an enumeration of texts is none of these."""

_CALL = (
    *("seq", "parent", "tool", "called_as", "state", "attempt", "in_doubt", "label"),
    *("created_at", "sent_at", "deadline", "settled_at"),
)


def serialize_record(record: Record) -> Document:
    """Return the whole record: its execution, opening, policy, steps, calls, events and ledger."""
    setup, policy = record.opening, record.execution.policy
    return {
        "execution": serialize_recorded(record.execution),
        "opening": None if setup is None else serialize_setup(setup),
        "policy": None if policy is None else serialize(policy),
        "steps": [serialize(step) for step in record.steps],
        "calls": [serialize_ticket(ticket) for ticket in record.tickets],
        "events": [serialize(event) for event in record.events],
        "ledger": [serialize_entry(entry) for entry in sort_entries(record.entries)],
    }


def serialize_execution(execution: Execution) -> Document:
    """Return the execution as GET /v1/executions/{id} returns it."""
    rows = [serialize_row(row) for row in execution.tool_calls]
    later = {"taken_over_by": execution.taken_over_by or None, "question": execution.question or None, "tool_calls": rows}
    return {**serialize_summary(execution), **later, **_select(execution, ("input", "output"))}


def serialize_recorded(execution: Execution) -> Document:
    """Return the execution as its record has it and the receipts cover it: of its place, only what `describe_place` says."""
    whole = serialize_execution(execution)
    rest = {name: value for name, value in whole.items() if name not in (*_PLACE, *_WAITING)}
    cancelled_by = {"cancelled_by": execution.cancelled_by} if execution.cancelled_by else {}
    numbers = {"answer": execution.answer, "question": execution.question} if execution.answer else {}
    waited = {"waited_s": _to_finite(execution.waited_s)} if execution.waited_s else {}
    return {**rest, **describe_place(execution), **cancelled_by, **numbers, **waited}


def serialize_summary(execution: ExecutionSummary) -> Document:
    """Return the execution as a list tells it."""
    place = {
        "workspace_id": execution.workspace,
        "agent_id": execution.agent,
        "person_id": execution.person or None,
        "conversation_id": execution.conversation or None,
        "answer": execution.answer or None,
        "cancelled_by": execution.cancelled_by or None,
        "waiting_for": execution.waiting_for or None,
        "waiting_since": _to_json(execution.waiting_since),
    }
    summary = {"execution_id": execution.id, "task_id": execution.task, **place, **_select(execution, _SUMMARY)}
    if execution.titled_answer:
        summary["titled_answer"] = execution.titled_answer
    if execution.called_tool:
        summary["called_tool"] = execution.called_tool
    # a record that was signed where it ran has no such member
    return summary if execution.imported_from is None else {**summary, "imported_from": execution.imported_from.ids["id"]}


def serialize_setup(setup: ExecutionSetup) -> Document:
    """Return the setup: everything that the model calls of an execution are made of."""
    reals = {"temperature": _to_finite(setup.temperature), "patience_s": _to_finite(setup.timeout_s)}
    return {**_to_json(setup), **reals}


def serialize(value: Any) -> Document:
    """Return a value with all its fields, a policy, a turn or an event, say."""
    return dict(_to_json(value))


def serialize_ticket(ticket: Ticket) -> Document:
    """Return a call; its sealed arguments and its epoch are left out."""
    names = {"iteration": ticket.step, "id": ticket.call, "arguments": serialize_arguments(ticket)}
    result = None if ticket.result is None else serialize_result(ticket.result)
    return {**_select(ticket, _CALL), **names, **_serialize_asked(ticket), "result": result}


def _serialize_asked(ticket: Ticket) -> Document:
    """Return what a person was asked about a call, who approved it, what decided where it goes, and that its result is hidden.

    Of these, as far as there is any.
    """
    question: Document = {"approval": ticket.approval, "form_digest": ticket.form_digest} if ticket.approval else {}
    if ticket.approved is not None:
        question["approved"] = _to_json(ticket.approved)
    if ticket.hidden:
        question["hidden"] = True
    return question if ticket.flow is None else {**question, "flow": serialize(ticket.flow)}


def serialize_arguments(ticket: Ticket) -> Any:
    """Return the arguments of a call, as `serialize_ticket` has them."""
    return _to_json(ticket.display_arguments)


def serialize_result(result: ToolCallResult) -> Document:
    """Return all fields of a call's result."""
    return {**_to_json(result), "latency_ms": _to_finite(result.latency_ms)}


def serialize_row(row: ToolCallResult) -> Document:
    """Return an audit row: a result without its parts, which its call has."""
    return {name: value for name, value in serialize_result(row).items() if name != "parts"}


def serialize_entry(entry: LedgerEntry) -> Document:
    """Return an entry of the ledger."""
    return _select(entry, ("id", "at", "postings"))


def _select(value: Any, names: tuple[str, ...]) -> Document:
    return {name: _to_json(getattr(value, name)) for name in names}


def _to_json(value: Any) -> Any:
    kind: Any = type(value)
    return value if kind in _PLAIN else _find_writer(kind)(value)


@cache
def _find_writer(kind: Any) -> Callable[[Any], Any]:
    """Return what writes values of `kind`, which is none of `_PLAIN`. A record has some forty of them, and few kinds."""
    for known, write in _WRITERS:
        if issubclass(kind, known):
            return write
    names = _list_names(kind)
    return (lambda value: value) if names is None else partial(_write_fields, names)


def _write_fields(names: tuple[tuple[str, str, Any], ...], value: Any) -> Document:
    written: Document = {}
    for name, stored, default in names:
        inner = getattr(value, name)
        if default is NotImplemented or inner != default:
            kind: Any = type(inner)
            written[stored] = inner if kind in _PLAIN else _find_writer(kind)(inner)
    return written


def _write_mapping(value: Mapping[str, Any]) -> Document:
    return {name: _to_json(inner) for name, inner in value.items()}


def _write_sequence(value: Iterable[Any]) -> list[Any]:
    return [_to_json(inner) for inner in value]


def write_time(value: datetime) -> str:
    """Return a moment as documents have it."""
    return value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


@cache
def _list_names(kind: Any) -> tuple[tuple[str, str, Any], ...] | None:
    """Return the name of each field of a dataclass, that under which it is stored, and the value that is left out.

    Return None for any other type.
    """
    if not is_dataclass(kind):
        return None
    return tuple((field.name, get_stored_name(field), get_left_out(field)) for field in fields(kind))


def _to_finite(value: float | None) -> float | None:
    # a whole number is the same value as the float that it was stored from
    return float(value) if value is not None and math.isfinite(value) else None


_WRITERS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Mapping, _write_mapping),
    ((list, tuple), _write_sequence),
    (Enum, lambda value: value.value),
    (Decimal, format_credits),
    (datetime, write_time),
    (float, _to_finite),
)
"""What writes values of each kind that is no dataclass; of several that fit, the first."""
