"""The ledger in Firestore: an entry is created in the transaction of what it tells of, and never changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.domain.ledger import Entry
from ferryman.domain.purse import Purse
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translated
from ferryman.gcp.firestore import Firestore


@translated
class FirestoreLedger:
    """`ports.Ledger`."""

    def __init__(self, clients: Firestore) -> None:
        self._clients = clients

    async def purse(self, purse: str) -> Purse:
        snapshot = await places.purse(self._clients.firestore(), purse).get()
        return documents.read(Purse, snapshot.to_dict()) if snapshot.exists else Purse(id=purse)

    async def of_execution(self, execution: str) -> Sequence[Entry]:
        from google.cloud.firestore import FieldFilter

        query = self._clients.firestore().collection("ledger").where(filter=FieldFilter("execution", "==", execution))
        found = [documents.read(Entry, snapshot.to_dict()) async for snapshot in query.stream()]
        return sorted(found, key=lambda entry: entry.at)

    async def of_owner(self, owner: str, *, since: datetime, until: datetime) -> Sequence[Entry]:
        from google.cloud.firestore import FieldFilter

        query = (
            self._clients.firestore()
            .collection("ledger")
            .where(filter=FieldFilter("owner", "==", owner))
            .where(filter=FieldFilter("at", ">=", since))
            .where(filter=FieldFilter("at", "<", until))
            .order_by("at")
        )
        return [documents.read(Entry, snapshot.to_dict()) async for snapshot in query.stream()]
