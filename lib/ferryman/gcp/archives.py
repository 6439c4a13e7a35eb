"""Imported history in Firestore."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.gcp import documents
from ferryman.gcp.store import FirestoreStore


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEntries:
    """The movements of credits of an imported execution, in a document beside its steps."""

    entries: tuple[LedgerEntry, ...] = ()


class FirestoreArchives(FirestoreStore):
    """`ports.Archives`."""

    async def list_entries(self, execution: str) -> Sequence[LedgerEntry]:
        stored = documents.read_or_none(StoredEntries, await self._places.locate_imported_entries(execution).get())
        return () if stored is None else stored.entries
