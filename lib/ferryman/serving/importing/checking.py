"""Checks of an imported execution as a whole: it fits itself, and its receipts, which are genuine under the keys of there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ferryman import verify_receipts as verifier
from ferryman.domain.archives.content import ExecutionParts
from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.executions.execution import Execution
from ferryman.domain.problem import build_input_error
from ferryman.domain.receipts.receipt import Receipt
from ferryman.domain.records.document import serialize_record
from ferryman.domain.records.record import Record
from ferryman.serving.api.shapes import record as shapes


def build_record(execution: Execution, parts: ExecutionParts) -> Record:
    """Return the record of an imported execution, with the ids that it had where it ran."""
    return Record(
        execution=execution.restore(),
        opening=parts.opening,
        steps=parts.steps,
        tickets=parts.tickets,
        entries=parts.entries,
    )


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


def check_spanning(file: str, record: Record, receipts: Sequence[Receipt], keys: Mapping[str, str]) -> None:
    """Do what `check_execution` does, for workers, for one that ends in `file` and began before. Raise `InvalidInputError`."""
    try:
        check_execution(record, receipts, keys)
    except ArchiveError as error:
        raise build_input_error("content", f"{file}: {error}") from None
