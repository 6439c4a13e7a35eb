"""A turn in Firestore: one commit after its model call, which nothing is read for.

It holds where the execution's document is as it was read before the call (checked_executions.py), the lease in it included.
Where somebody has written it meanwhile (a cancel, a beat of the lease), the store reads it again in a transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ferryman.domain.calls.call import Ticket
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Step
from ferryman.domain.metering.event import UsageEvent
from ferryman.domain.receipts.receipt import Receipt
from ferryman.gcp import documents
from ferryman.gcp.places import Places
from ferryman.gcp.store import Reference
from ferryman.gcp.wire import get_wire
from ferryman.ports.executions import TurnCommit

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient

Created: TypeAlias = Sequence[tuple[Reference, dict[str, Any]]]
"""Documents that a commit creates, each with its place."""

LARGE = 700_000
"""Bytes of a step from which on its receipts have a document of their own: together they may not be a document's 1 MiB, and
those of a hundred calls take a fifth of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReceipts:
    """The receipts of one commit in their order, as fields of a step's document; `first_receipt` is the number of the first."""

    first_receipt: int
    receipts: tuple[Receipt, ...]


RECEIPT_FIELDS = documents.name_fields(StoredReceipts)


async def commit_unchanged(
    client: AsyncClient, reference: Reference, change: Mapping[str, Any], created: Created, *, since: Any
) -> bool:
    """Commit a turn in one request; return False, with nothing stored by it, where the execution was written after `since`."""
    from google.api_core.exceptions import Aborted, Conflict, FailedPrecondition

    try:
        await get_wire(client).commit(reference, change, created, since=since)
    except (Aborted, Conflict, FailedPrecondition):
        return False
    return True


def list_created(places: Places, execution: Execution, turn: TurnCommit, expiry: Mapping[str, Any]) -> Created:
    """Return the documents of a turn: its step, its entry, its receipts, what it used, and its calls."""
    steps = place_step(places, execution.id, turn.step.number, turn.step, turn.receipts, expiry)
    entries = [] if turn.entry is None else [place_entry(places, turn.entry)]
    return [*steps, *entries, *place_usage(places, turn.usage_event), *list_calls(places, execution, turn.tickets, expiry)]


def list_calls(places: Places, execution: Execution, tickets: Sequence[Ticket], expiry: Mapping[str, Any]) -> Created:
    """Return the documents of calls."""
    return [(places.locate_call(execution.id, ticket.seq), {**documents.write(ticket), **expiry}) for ticket in tickets]


def place_entry(places: Places, entry: LedgerEntry) -> tuple[Reference, dict[str, Any]]:
    """Return the document of an entry of the ledger, with its place."""
    return places.locate_entry(entry.id), documents.write(entry)


def place_usage(places: Places, event: UsageEvent | None) -> Created:
    """Return the document of a usage event, if there is one, with its place."""
    return [] if event is None else [(places.locate_usage_event(event.id), documents.write(event))]


def place_step(
    places: Places,
    execution: str,
    number: int,
    step: Step | ExecutionSetup,
    receipts: Sequence[Receipt],
    expiry: Mapping[str, Any],
) -> Created:
    """Return the document of a step with the receipts of its commit in it, or beside it where it is large; each with its place.

    A step is created once, and so are its receipts: there are no others of these numbers.
    """
    reference, document = places.locate_step(execution, number), documents.write(step)
    if _is_large(document):
        return [(reference, {**document, **expiry}), *place_receipts(places, receipts, expiry)]
    return [(reference, {**document, **_write_receipts(receipts), **expiry})]


def place_receipts(places: Places, receipts: Sequence[Receipt], expiry: Mapping[str, Any]) -> Created:
    """Return the document of the receipts of a commit that stores no step, with its place; none where there are none."""
    if not receipts:
        return []
    return [(places.locate_receipts(receipts[0].execution, receipts[0].number), {**_write_receipts(receipts), **expiry})]


def _write_receipts(receipts: Sequence[Receipt]) -> dict[str, Any]:
    if not receipts:
        return {}
    return documents.write(StoredReceipts(first_receipt=receipts[0].number, receipts=tuple(receipts)))


def _is_large(document: Mapping[str, Any]) -> bool:
    values = [inner for value in document.values() for inner in (value if isinstance(value, list | tuple) else (value,))]
    texts = [value for value in values if isinstance(value, str)]
    # a character takes four bytes at most
    return 4 * sum(map(len, texts)) > LARGE and sum(len(text.encode()) for text in texts) > LARGE
