"""Archived executions: the lines of an archive's files, put together again into records and chains of receipts.

A record is read as the API's own answers are: every field of its kind, no other, and written again as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.records.document import serialize_record
from ferryman.serving import record_values
from ferryman.serving.api.shapes import call, receipt
from ferryman.serving.api.shapes import record as shapes
from ferryman.serving.api.shapes.fault import describe_first_fault
from ferryman.serving.api.shapes.shape import ResponseShape

Line = Mapping[str, Any]
Placed = tuple[str, Line]
"""A line, with its place in words."""

SHAPES: Mapping[str, type[ResponseShape]] = {
    "execution": shapes.RecordedExecution,
    "policy": shapes.PolicyResponse,
    "opening": shapes.OpeningResponse,
    "step": shapes.StepResponse,
    "call": call.CallResponse,
    "entry": shapes.EntryResponse,
}
"""What the value of a line is, by its kind; that of a receipt is one of an entry's forms."""

LISTS = {"step": "steps", "call": "calls", "entry": "ledger"}
ORDER = ("execution", "policy", "opening", "step", "call", "entry", "receipt", "end")
"""The kinds of the lines of an execution, in their order."""

MEMBERS = {"execution": {"kind", "place", "origin", "value"}, "end": {"kind", "execution"}}
ONCE = frozenset(("execution", "policy", "opening", "end"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedExecution:
    """One execution of an archive: its record without its format, as it was where it ran, and its receipts.

    `place` are the ids that it has in the workspace that was exported; `origin` where it ran before, if it was imported there.
    """

    place: Mapping[str, str]
    origin: Mapping[str, Any] | None
    record: Mapping[str, Any] = field(repr=False)
    receipts: list[Line] = field(repr=False)

    def to_record(self) -> dict[str, Any]:
        """Return the record as the API answered it where it ran."""
        return {"format": shapes.FORMAT, **self.record}

    def to_chain(self, keys: Mapping[str, str]) -> dict[str, Any]:
        """Return the receipts as the API answered them where it ran, with its public keys: by default the archive's `keys`."""
        if self.origin is not None:
            keys = self.origin["keys"]
        about = {"format": "ferryman-receipts/2", "execution": self.record["execution"]["execution_id"]}
        return {**about, "entries": self.receipts, "keys": dict(keys)}


def read_line(place: str, line: Line) -> ResponseShape | None:
    """Return the value of a line as its shape; None for a receipt and for the last line. Raise `ArchiveError`."""
    kind = line.get("kind")
    if kind not in ORDER or line.keys() != MEMBERS.get(str(kind), {"kind", "value"}):
        raise ArchiveError(place, f"is no line of an execution: {', '.join(ORDER)}, each with its own members")
    if kind == "end":
        return None
    try:
        if kind == "receipt":
            receipt.ENTRY.validate_python(line["value"], strict=False)
            return None
        shape = SHAPES[kind].model_validate(line["value"])
    except ValidationError as error:
        raise ArchiveError(place, f"value.{describe_first_fault(error)}") from None
    if shape.model_dump(mode="json", exclude_unset=True) != line["value"]:
        raise ArchiveError(place, f"is no {kind} as this version writes it: a member is too much, or written otherwise")
    return shape


def iterate_executions(lines: Iterable[Placed]) -> Iterator[tuple[str, ArchivedExecution]]:
    """Yield each execution of the `lines` of an archive, with the place of its first line. Raise `ArchiveError`."""
    collected: list[Placed] = []
    for place, line in lines:
        collected.append((place, line))
        if line.get("kind") == "end":
            yield collected[0][0], _put_together(collected)
            collected = []
    if collected:
        raise ArchiveError(collected[0][0], "begins an execution that has no end")


def check_order(place: str, kind: str, before: str) -> None:
    """Raise `ArchiveError` where a line of this kind may not follow one of the kind `before`, "" before the first."""
    if not before or before == "end":
        fits = kind == "execution"
    else:
        fits = ORDER.index(kind) >= ORDER.index(before) and not (kind == before and kind in ONCE)
    if not fits:
        raise ArchiveError(place, f"is a line of kind {kind} where none may be")


def _put_together(lines: list[Placed]) -> ArchivedExecution:
    first, values, before = lines[0][1], {}, ""
    lists: dict[str, list[Any]] = {name: [] for name in SHAPES}
    receipts: list[Line] = []
    for place, line in lines:
        shape = read_line(place, line)
        check_order(place, line["kind"], before)
        before = line["kind"]
        if shape is not None:
            lists[before].append(shape)
        elif before == "receipt":
            receipts.append(line["value"])
    values = {name: shape[0] if shape else None for name, shape in lists.items() if name not in LISTS}
    response = shapes.RecordResponse.model_construct(
        format=shapes.FORMAT,
        execution=values["execution"],
        policy=values["policy"],
        opening=values["opening"],
        steps=tuple(lists["step"]),
        calls=tuple(lists["call"]),
        events=(),
        ledger=tuple(lists["entry"]),
    )
    try:
        record = serialize_record(record_values.build_record(response))
    except (ValueError, TypeError, AssertionError) as error:
        raise ArchiveError(lines[0][0], f"begins an execution that contradicts itself: {error}") from None
    if lines[-1][1]["execution"] != first["place"]["execution"]:
        raise ArchiveError(lines[-1][0], "ends another execution than the one before it")
    return ArchivedExecution(place=first["place"], origin=first["origin"], record=record, receipts=receipts)
