"""The ledger in Firestore: an entry is created in the transaction of what it tells of, and never changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient


@translate_errors
class FirestoreLedger:
    """`ports.Ledger`."""

    def __init__(self, clients: FirestoreClient) -> None:
        self._clients = clients

    async def balance(self, balance: str) -> CreditBalance:
        snapshot = await places.locate_balance(self._clients.firestore(), balance).get()
        return documents.read(CreditBalance, snapshot.to_dict()) if snapshot.exists else CreditBalance(id=balance)

    async def of_execution(self, execution: str) -> Sequence[LedgerEntry]:
        from google.cloud.firestore import FieldFilter

        query = self._clients.firestore().collection("ledger").where(filter=FieldFilter("execution", "==", execution))
        found = [documents.read(LedgerEntry, snapshot.to_dict()) async for snapshot in query.stream()]
        return sorted(found, key=lambda entry: entry.at)

    async def of_owner(self, owner: str, *, since: datetime, until: datetime) -> Sequence[LedgerEntry]:
        from google.cloud.firestore import FieldFilter

        query = (
            self._clients.firestore()
            .collection("ledger")
            .where(filter=FieldFilter("owner", "==", owner))
            .where(filter=FieldFilter("at", ">=", since))
            .where(filter=FieldFilter("at", "<", until))
            .order_by("at")
        )
        return [documents.read(LedgerEntry, snapshot.to_dict()) async for snapshot in query.stream()]
