"""History in an archive, read as strangers' input: executions that have ended elsewhere, part by part and in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.workspaces.imports import OldestExecution, OpenRun
from ferryman.ports.archives import ImportedHistory
from ferryman.serving import archived
from ferryman.serving.importing.checking import build_record, check_execution
from ferryman.serving.importing.executions import Line, add_part, begin_execution
from ferryman.serving.importing.open_execution import OpenExecution
from ferryman.serving.importing.target import ArchiveTarget


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
    current = None if run is None else OpenExecution(run.execution, run.kind, run.lines, run.size)
    for (place, line), size in zip(lines, sizes, strict=True):
        archived.read_line(place, line)  # its members are those of its kind
        kind = line["kind"]
        archived.check_order(place, kind, "" if current is None else current.kind)
        if kind == "execution":
            current, read.begun = _attempt(place, begin_execution, line, target), read.begun + 1
            read.oldest = _follow(place, current, read.oldest, names)
            current.count_line(place, size)
            continue
        assert current is not None, "the order begins with an execution"
        current.count_line(place, size)
        if kind == "end":
            _end(place, line, current, target, read)
            current = None
            continue
        _attempt(place, add_part, line, current, target)
        current.kind = kind
    if current is not None:
        read.pieces.append(current.to_piece(target))
        read.run = current.to_run()
    return read


def _follow(place: str, current: OpenExecution, before: OldestExecution | None, names: set[str]) -> OldestExecution:
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


def _end(place: str, line: Line, current: OpenExecution, target: ArchiveTarget, read: ReadHistory) -> None:
    if line["execution"] != current.name:
        raise ArchiveError(place, "ends another execution than the one before it")
    piece = current.to_piece(target)
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
