"""History in an archive, read as strangers' input: executions that have ended elsewhere, part by part and in their order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, TypeVar

from ferryman import verify_receipts as verifier
from ferryman.domain.archives.content import ExecutionParts
from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.calls.call import Ticket
from ferryman.domain.copies import replace
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Step
from ferryman.domain.executions.origin import Origin
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.ids import is_id
from ferryman.domain.receipts.receipt import Receipt, ReceiptKind
from ferryman.domain.records.document import serialize_record
from ferryman.domain.records.record import Record
from ferryman.domain.workspaces.imports import (
    EXECUTION_BYTES_MAX,
    EXECUTION_LINES_MAX,
    ArchiveImport,
    OldestExecution,
    OpenRun,
    derive_agent,
    derive_id,
)
from ferryman.domain.workspaces.workspace import BEGINNING
from ferryman.ports.archives import ImportedHistory
from ferryman.serving import archived, record_values
from ferryman.serving.api.shapes import record as shapes
from ferryman.serving.api.shapes.shape import RequestShape
from ferryman.serving.importing.definitions import Id, read_shape

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


class OriginLine(RequestShape):
    """Where an execution ran that had been imported before it was exported."""

    workspace: Id
    ids: dict[str, str]
    keys: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveTarget:
    """Who imports into which workspace, since when, and how far it is."""

    owner: str
    workspace: str
    retention_days: int | None
    began_at: datetime
    run: ArchiveImport


@dataclass(slots=True)
class _Open:
    """The execution whose lines are read: its id in the archive, the kind of its last line, and what was read of it.

    It has so many `lines` up to here, those in earlier files among them, of `size` bytes together in UTF-8.
    """

    name: str
    kind: str
    lines: int = 0
    size: int = 0
    execution: Execution | None = None
    policy: ExecutionPolicy | None = None
    opening: ExecutionSetup | None = None
    steps: list[Step] = field(default_factory=list)
    tickets: list[Ticket] = field(default_factory=list)
    entries: list[LedgerEntry] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)

    def count_line(self, place: str, size: int) -> None:
        """Count a line of `size` bytes. Raise `ArchiveError` above what is read as a whole."""
        self.lines, self.size = self.lines + 1, self.size + size
        for count, most, of in ((self.lines, EXECUTION_LINES_MAX, "lines"), (self.size, EXECUTION_BYTES_MAX, "bytes in UTF-8")):
            if count > most:
                message = f"execution {self.name}: has {count} {of} up to here, and at most {most} may be imported"
                raise ArchiveError(place, message)

    def to_parts(self) -> ExecutionParts:
        return ExecutionParts(
            opening=self.opening,
            steps=tuple(self.steps),
            tickets=tuple(self.tickets),
            entries=tuple(self.entries),
            receipts=tuple(self.receipts),
        )


@dataclass(slots=True)
class ReadHistory:
    """What a file tells of executions: their parts, how many began in it, the last of these, which of those that began before
    ended in it, and the one that goes on in the next file."""

    pieces: list[ImportedHistory] = field(default_factory=list)
    begun: int = 0
    oldest: OldestExecution | None = None
    spanning: list[str] = field(default_factory=list)
    run: OpenRun | None = None


def read_history(lines: Iterable[tuple[str, Line]], sizes: Iterable[int], target: ArchiveTarget) -> ReadHistory:
    """Return what the lines of a file tell, of which `sizes` are the bytes in UTF-8.

    Raise `ArchiveError`, also for an execution that its receipts do not fit, is there twice, or is too large.
    """
    read, run, names = ReadHistory(oldest=target.run.oldest), target.run.run, set[str]()
    current = None if run is None else _Open(run.execution, run.kind, run.lines, run.size)
    for (place, line), size in zip(lines, sizes, strict=True):
        archived.read_line(place, line)  # its members are those of its kind
        kind = line["kind"]
        archived.check_order(place, kind, "" if current is None else current.kind)
        if kind == "execution":
            current, read.begun = _attempt(place, _begin, line, target), read.begun + 1
            read.oldest = _follow(place, current, read.oldest, names)
            current.count_line(place, size)
            continue
        assert current is not None, "the order begins with an execution"
        current.count_line(place, size)
        if kind == "end":
            _end(place, line, current, target, read)
            current = None
            continue
        _attempt(place, _add, line, current, target)
        current.kind = kind
    if current is not None:
        read.pieces.append(_to_piece(current, target))
        read.run = OpenRun(execution=current.name, kind=current.kind, lines=current.lines, size=current.size)
    return read


def _follow(place: str, current: _Open, before: OldestExecution | None, names: set[str]) -> OldestExecution:
    """Return the execution that begins as the oldest so far, and add its id to the file's `names`.

    Raise `ArchiveError` unless it is older than the one `before`: the newest is the first in an archive, and those of one
    moment are in the order of their ids, from the last. So none is there twice with one time; with two times, it is found in
    `names`, or where it was stored.
    """
    assert current.execution is not None, "it begins here"
    created_at = current.execution.created_at
    if current.name in names:
        raise ArchiveError(place, f"execution {current.name}: is in the archive twice")
    if before is not None and (created_at, current.name) >= (before.created_at, before.execution):
        message = f"execution {current.name}: is there twice, or not older than {before.execution} before it"
        raise ArchiveError(place, message)
    names.add(current.name)
    return OldestExecution(created_at=created_at, execution=current.name)


def _attempt(place: str, read: Callable[..., Any], *arguments: Any) -> Any:
    """Return what `read` makes of a line. Raise `ArchiveError` also where the parts of a value contradict each other."""
    try:
        return read(place, *arguments)
    except ArchiveError:
        raise
    except (ValueError, TypeError, KeyError, AssertionError, AttributeError, ArithmeticError):
        raise ArchiveError(place, "value: contradicts itself") from None


def check_execution(record: Record, receipts: Iterable[Receipt], keys: Mapping[str, str]) -> None:
    """Raise `ArchiveError` where an execution contradicts itself, or its receipts are not genuine or do not fit it.

    `record` has the ids that the execution had where it ran, and `keys` are the public ones of there.
    """
    place = f"execution {record.execution.id}"
    try:
        document = {"format": shapes.FORMAT, **serialize_record(record)}
        entries = [receipt.to_json() for receipt in receipts]
        chain = {"format": verifier.FORMAT, "execution": record.execution.id, "entries": entries, "keys": dict(keys)}
        verifier.verify(chain)
        wrong, _ = verifier.compare(chain, document)
    except verifier.VerificationError as fault:
        raise ArchiveError(place, f"its receipts are not genuine: {fault}") from None
    except (ValueError, TypeError, KeyError, IndexError, AssertionError, AttributeError, ArithmeticError):
        raise ArchiveError(place, "it contradicts itself") from None
    if wrong:
        raise ArchiveError(place, f"its receipts do not fit it: {', '.join(wrong)[:200]}")


def _begin(place: str, line: Line, target: ArchiveTarget) -> _Open:
    """Return an execution under its id here, as its owner's who imports it; nobody started or cancelled it here."""
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
    workspace, keys = (target.run.source, target.run.keys) if origin is None else (origin.workspace, origin.keys)
    execution = replace(
        _in_utc(there),
        id=derive_id(target.workspace, "exec", here.execution),
        task=derive_id(target.workspace, "task", here.task),
        owner=target.owner,
        workspace=target.workspace,
        agent=derive_agent(target.workspace, target.run, here.agent),
        person="",
        cancelled_by="",
        retention_days=target.retention_days,
        imported_from=Origin(workspace=workspace, ids=ids, keys=dict(keys)),
    )
    return _Open(here.execution, "execution", execution=execution)


def _add(place: str, line: Line, current: _Open, target: ArchiveTarget) -> None:
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
                id=derive_id(target.workspace, "exec", current.name),
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


def _end(place: str, line: Line, current: _Open, target: ArchiveTarget, read: ReadHistory) -> None:
    if line["execution"] != current.name:
        raise ArchiveError(place, "ends another execution than the one before it")
    piece = _to_piece(current, target)
    read.pieces.append(piece)
    if current.execution is None:
        read.spanning.append(piece.name)  # its other parts are stored: it is checked with them
        return
    origin = current.execution.imported_from
    assert origin is not None, "every execution that is read has one"
    assert piece.execution is not None, "as its piece has"
    record = build_record(piece.execution, piece.parts)
    try:
        check_execution(record, current.receipts, origin.keys)
    except ArchiveError as error:
        raise ArchiveError(place, f"{error.entry}: {error.message}") from None


def build_record(execution: Execution, parts: ExecutionParts) -> Record:
    """Return the record of an imported execution, with the ids that it had where it ran."""
    return Record(
        execution=execution.restore(),
        opening=parts.opening,
        steps=parts.steps,
        tickets=parts.tickets,
        entries=parts.entries,
    )


def _to_piece(current: _Open, target: ArchiveTarget) -> ImportedHistory:
    name = derive_id(target.workspace, "exec", current.name)
    if current.execution is None:
        return ImportedHistory(name=name, policy=current.policy, parts=current.to_parts())
    execution = replace(current.execution, policy=current.policy)
    return ImportedHistory(name=name, execution=execution, parts=current.to_parts())


def _check_range(place: str, name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ArchiveError(place, f"value.{name}: must be {least} to {most}, is {value}")


def _in_utc(value: Dated) -> Dated:
    """Return the value with its moments in UTC."""
    moments = {part.name: getattr(value, part.name) for part in fields(value)}  # type: ignore[arg-type] # a dataclass
    changes = {name: moment.astimezone(UTC) for name, moment in moments.items() if isinstance(moment, datetime)}
    return dataclasses.replace(value, **changes)  # type: ignore[type-var] # as above
