"""Receipts in Firestore: a document for each commit, under its execution, named by the number of its first entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.domain.receipts.receipt import Receipt
from ferryman.gcp import documents
from ferryman.gcp.places import Places
from ferryman.gcp.store import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReceipts:
    """The entries of one commit in their order; `first` is the number of the first."""

    first: int
    entries: tuple[Receipt, ...]


def create_receipts(transaction: Transaction, places: Places, receipts: tuple[Receipt, ...], more: Mapping[str, Any]) -> None:
    """Write the entries of a commit in its transaction, which fails where there are others; `more` are further fields."""
    if receipts:
        first = receipts[0]
        written = {**documents.write(StoredReceipts(first=first.number, entries=receipts)), **more}
        transaction.create(places.locate_receipts(first.execution, first.number), written)
