"""Imported history in Firestore.

The document of an imported execution is written twice. What was only ever created counts as somebody's request for a run
(`execution_documents`): the first write says that it is none, and the second, which changes it, makes it an execution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import Message
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.problem import build_input_error
from ferryman.domain.receipts.receipt import Receipt, canonicalize
from ferryman.gcp import documents, turns
from ferryman.gcp.execution_documents import ADMITTED, IMPORTING, SUMMARY_FIELDS, read_summary, write_execution
from ferryman.gcp.faults import is_transient
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.retention import Retention
from ferryman.gcp.store import FirestoreStore, Reference, Snapshot, Transaction, get_readable, in_transaction
from ferryman.gcp.workspace_documents import check_workspace
from ferryman.ports.archives import ImportedHistory
from ferryman.selection.messages import index_message

WRITES_MAX = 100
"""Writes of one commit: each may be nearly a mebibyte, and a commit ten."""

COMMIT_BYTES = 4_000_000
RECEIPTS_BYTES = 400_000
"""Of the receipts in one document."""

Place = tuple[str, str]
"""An owner, and a workspace of theirs."""

Written = tuple[Reference, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEntries:
    """The movements of credits of an imported execution, in a document beside its steps."""

    entries: tuple[LedgerEntry, ...] = ()


class FirestoreArchives(FirestoreStore):
    """`ports.Archives`."""

    def __init__(self, clients: FirestoreClient, retention: Retention | None = None) -> None:
        super().__init__(clients)
        self._retention = retention or Retention()

    async def add_history(
        self,
        history: Sequence[ImportedHistory],
        *,
        owner: str,
        workspace: str,
        ended_at: datetime,
        retention_days: int | None,
    ) -> None:
        from google.api_core.exceptions import InvalidArgument

        place = (owner, workspace)
        expiry = self._retention.expire(retention_days, ended_at)
        new = [piece.execution for piece in history if piece.execution is not None]
        try:
            for begin in range(0, len(new), WRITES_MAX):
                await self._announce(place, new[begin : begin + WRITES_MAX])
            await self._commit(place, (written for piece in history for written in self._list_written(piece, expiry)))
            for piece in history:
                if piece.policy is not None:
                    await self._add_policy(place, piece.name, piece.policy)
                if piece.parts.entries:
                    await self._add_entries(place, piece, expiry)
        except InvalidArgument as error:
            if is_transient(error):
                raise
            raise build_input_error("lines", "a part of an execution is larger than what can be stored") from None

    async def add_conversations(
        self,
        conversations: Sequence[Conversation],
        messages: Sequence[Message],
        *,
        owner: str,
        workspace: str,
        ended_at: datetime,
        retention_days: int | None,
    ) -> None:
        expiry, places = self._retention.expire(retention_days, ended_at), self._places
        written: list[Written] = [
            (places.locate_conversation(item.id), {**documents.write(item), **expiry}) for item in conversations
        ]
        written += [
            (
                places.locate_message(item.conversation, item.number),
                {**documents.write(item), **index_message(item, workspace=workspace), **expiry},
            )
            for item in messages
        ]
        await self._commit((owner, workspace), written)

    @in_transaction
    async def _announce(self, transaction: Transaction, place: Place, new: Sequence[Execution]) -> None:
        """Make the first write of executions, by which a deletion finds them as it does requests that were refused.

        What an earlier attempt has made an execution stays one: it may have steps and calls already.
        """
        await self._check(transaction, place)
        announced = {self._places.locate_execution(execution.id): execution for execution in new}
        stored = await self._read_stored([*announced], transaction)
        known = {snapshot.reference.path for snapshot in stored if read_summary(snapshot) is not None}
        for reference, execution in announced.items():
            if reference.path not in known:
                about = {name: getattr(execution, name) for name in ("owner", "workspace", "agent", "created_at")}
                transaction.set(reference, {**about, "status": execution.status.value, ADMITTED: False, IMPORTING: True})

    async def _read_stored(self, references: list[Reference], transaction: Transaction) -> Sequence[Snapshot]:
        """Return the documents at `references` that can be read: any other one is nobody's execution, and is replaced."""
        try:
            return [item async for item in self._client.get_all(references, SUMMARY_FIELDS, transaction=transaction)]
        except ValueError:
            snapshots = [await get_readable(reference, transaction, names=SUMMARY_FIELDS) for reference in references]
            return [snapshot for snapshot in snapshots if snapshot is not None]

    def _list_written(self, piece: ImportedHistory, expiry: dict[str, Any]) -> Iterator[Written]:
        """Yield what a piece is stored as, but its entries and a policy that came later."""
        places, name, parts = self._places, piece.name, piece.parts
        if piece.execution is not None:
            yield places.locate_execution(name), {**write_execution(piece.execution), **expiry}
        if parts.opening is not None:
            yield places.locate_step(name, 0), {**documents.write(parts.opening), **expiry}
        for step in parts.steps:
            yield places.locate_step(name, step.number), {**documents.write(step), **expiry}
        for ticket in parts.tickets:
            yield places.locate_call(name, ticket.seq), {**documents.write(ticket), **expiry}
        for receipts in _group(parts.receipts):
            stored = turns.StoredReceipts(first_receipt=receipts[0].number, receipts=tuple(receipts))
            yield places.locate_receipts(name, receipts[0].number), {**documents.write(stored), **expiry}

    @in_transaction
    async def _add_policy(self, transaction: Transaction, place: Place, name: str, policy: ExecutionPolicy) -> None:
        await self._check(transaction, place)
        transaction.update(self._places.locate_execution(name), {"policy": documents.write(policy)})

    @in_transaction
    async def _add_entries(
        self, transaction: Transaction, place: Place, piece: ImportedHistory, expiry: dict[str, Any]
    ) -> None:
        await self._check(transaction, place)
        reference = self._places.locate_imported_entries(piece.name)
        before = documents.read_or_none(StoredEntries, await reference.get(transaction=transaction)) or StoredEntries()
        known = {entry.id: entry for entry in (*before.entries, *piece.parts.entries)}
        transaction.set(reference, {**documents.write(StoredEntries(entries=tuple(known.values()))), **expiry})

    async def _commit(self, place: Place, written: Iterable[Written]) -> None:
        """Write documents in several commits; whatever dies in between, they are written again with the same file."""
        batch, size = list[Written](), 0
        for reference, document in written:
            batch.append((reference, document))
            size += len(repr(document))
            if len(batch) == WRITES_MAX or size >= COMMIT_BYTES:
                await self._write(place, batch)
                batch, size = [], 0
        if batch:
            await self._write(place, batch)

    @in_transaction
    async def _write(self, transaction: Transaction, place: Place, written: Sequence[Written]) -> None:
        await self._check(transaction, place)
        for reference, document in written:
            transaction.set(reference, document)

    async def _check(self, transaction: Transaction, place: Place) -> None:
        """Raise `WorkspaceGoneError`: what is stored once a deletion has looked for it would outlive its receipt."""
        owner, workspace = place
        check_workspace(await self._places.locate_workspace(workspace).get(transaction=transaction), owner=owner)

    async def list_entries(self, execution: str) -> Sequence[LedgerEntry]:
        stored = documents.read_or_none(StoredEntries, await self._places.locate_imported_entries(execution).get())
        return () if stored is None else stored.entries


def _group(receipts: Sequence[Receipt]) -> Iterator[list[Receipt]]:
    """Yield receipts in their order, as many at once as one document holds."""
    group: list[Receipt] = []
    size = 0
    for receipt in receipts:
        length = len(canonicalize(receipt.to_json()))
        if group and size + length > RECEIPTS_BYTES:
            yield group
            group, size = [], 0
        group.append(receipt)
        size += length
    if group:
        yield group
