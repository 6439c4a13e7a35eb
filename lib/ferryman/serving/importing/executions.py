"""One execution in an archive, read as strangers' input, line by line; it has ended elsewhere, and never runs here."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, TypeVar

from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.origin import Origin
from ferryman.domain.ids import is_id
from ferryman.domain.receipts.receipt import Receipt, ReceiptKind
from ferryman.domain.workspaces.workspace import BEGINNING
from ferryman.serving import archived, record_values
from ferryman.serving.api.shapes import record as shapes
from ferryman.serving.api.shapes.shape import RequestShape
from ferryman.serving.importing.definitions import Id, read_shape
from ferryman.serving.importing.open_execution import OpenExecution
from ferryman.serving.importing.target import ArchiveTarget

Line = Mapping[str, Any]
Dated = TypeVar("Dated")
NUMBER_MAX, KEY_MAX = 1_000_000, 10**15 - 1
"""Above every number of a turn, a call or a receipt of an execution."""

_ENTRY = ("execution", "number", "kind", "at", "previous", "key", "hash", "signature")


class PlaceLine(RequestShape):
    """The ids that an execution has in the workspace that was exported."""

    execution: Id
    task: Id
    agent: Id
    conversation: Id | None = None


class OriginLine(RequestShape):
    """Where an execution ran that had been imported before it was exported."""

    workspace: Id
    ids: dict[str, str]
    keys: dict[str, str]


def begin_execution(place: str, line: Line, target: ArchiveTarget) -> OpenExecution:
    """Return an execution under its id here, as its owner's who imports it; nobody started or cancelled it here.

    Raise `ArchiveError` for one that has not ended or whose ids are none, and ValueError, TypeError, KeyError, AssertionError,
    AttributeError or ArithmeticError where its values contradict each other.
    """
    here = read_shape(f"{place}: place", PlaceLine, line["place"])
    shape = shapes.RecordedExecution.model_validate(line["value"])
    there = record_values.build_execution(shape, owner="", policy=None)
    if not there.status.terminal:
        raise ArchiveError(place, f"value.status: is {there.status}; only what has ended is imported")
    if shape.imported_from is not None or not is_id(there.id) or not is_id(there.task):
        raise ArchiveError(place, "value: has ids that are none, or imported_from, which its record does not have")
    origin = None if line["origin"] is None else read_shape(f"{place}: origin", OriginLine, line["origin"])
    if origin is None and (here.execution, here.task) != (there.id, there.task):
        raise ArchiveError(place, "place: has other ids than the record, and no origin says why")
    ids = {"id": there.id, "task": there.task, "owner": "", "workspace": there.workspace, "agent": there.agent}
    ids |= {"person": there.person, "cancelled_by": there.cancelled_by}
    conversation = there.conversation
    if there.is_in_chat:
        if here.conversation is None or (origin is None and here.conversation != conversation):
            raise ArchiveError(place, "place.conversation: is not that of the record")
        ids["conversation"], conversation = conversation, target.derive("conv", here.conversation)
    workspace, keys = (target.run.source, target.run.keys) if origin is None else (origin.workspace, origin.keys)
    execution = replace(
        _in_utc(there),
        id=target.derive("exec", here.execution),
        task=target.derive("task", here.task),
        owner=target.owner,
        workspace=target.workspace,
        agent=target.derive_agent(here.agent),
        conversation=conversation,
        person="",
        cancelled_by="",
        retention_days=target.retention_days,
        imported_from=Origin(workspace=workspace, ids=ids, keys=dict(keys)),
    )
    return OpenExecution(here.execution, "execution", execution=execution)


def add_part(place: str, line: Line, current: OpenExecution, target: ArchiveTarget) -> None:
    """Add what a line between the first and the last one tells. Raise as `begin_execution` does."""
    value = line["value"]
    match line["kind"]:
        case "policy":
            current.policy = record_values.build_policy(shapes.PolicyResponse.model_validate(value))
        case "opening":
            current.opening = _in_utc(record_values.build_setup(shapes.OpeningResponse.model_validate(value)))
        case "step":
            step = _in_utc(record_values.build_step(shapes.StepResponse.model_validate(value)))
            _check_range(place, "number", step.number, 1, NUMBER_MAX - 1)
            current.steps.append(step)
        case "call":
            ticket = _in_utc(record_values.build_ticket(archived.SHAPES["call"].model_validate(value)))  # type: ignore[arg-type] # the shape of a call
            _check_range(place, "seq", ticket.seq, 0, NUMBER_MAX - 1)
            current.tickets.append(ticket)
        case "entry":
            execution = Execution(
                id=target.derive("exec", current.name),
                task="",
                owner=target.owner,
                workspace=target.workspace,
                created_at=BEGINNING,
            )
            current.entries.append(_in_utc(record_values.build_entry(shapes.EntryResponse.model_validate(value), execution)))
        case _:
            _check_range(place, "number", value["number"], 0, NUMBER_MAX - 1)
            _check_range(place, "key", value["key"], 1, KEY_MAX)
            members = {name: inner for name, inner in value.items() if name not in _ENTRY}
            entry = {name: value[name] for name in _ENTRY if name != "kind"}
            current.receipts.append(Receipt(kind=ReceiptKind(value["kind"]), members=members, **entry))


def _check_range(place: str, name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ArchiveError(place, f"value.{name}: must be {least} to {most}, is {value}")


def _in_utc(value: Dated) -> Dated:
    """Return the value with its moments in UTC."""
    moments = {part.name: getattr(value, part.name) for part in fields(value)}  # type: ignore[arg-type] # a dataclass
    changes = {name: moment.astimezone(UTC) for name, moment in moments.items() if isinstance(moment, datetime)}
    return dataclasses.replace(value, **changes)  # type: ignore[type-var] # as above
