"""The double-entry ledger in Firestore: an entry is created in the transaction that it records, and never changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.gcp import documents
from ferryman.gcp.store import FirestoreStore, filter_by


class FirestoreLedger(FirestoreStore):
    """`ports.Ledger`."""

    async def balance(self, balance: str) -> CreditBalance:
        snapshot = await self._places.locate_balance(balance).get()
        return documents.read_or_none(CreditBalance, snapshot) or CreditBalance(id=balance)

    async def of_execution(self, execution: str) -> Sequence[LedgerEntry]:
        query = filter_by(self._client.collection("ledger"), ("execution", "==", execution))
        return sorted(await documents.read_all(LedgerEntry, query), key=lambda entry: entry.at)

    async def of_owner(self, owner: str, *, since: datetime, until: datetime) -> Sequence[LedgerEntry]:
        conditions = ("owner", "==", owner), ("at", ">=", since), ("at", "<", until)
        query = filter_by(self._client.collection("ledger"), *conditions).order_by("at")
        return await documents.read_all(LedgerEntry, query)
