"""Consents under way, in Firestore: below their task, by the digest of their state."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ferryman.domain.connection import Connection
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translated
from ferryman.gcp.firestore import Firestore
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.ports import Stale

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction


@translated
class FirestoreConnections:
    """`ports.Connections`."""

    def __init__(self, clients: Firestore) -> None:
        self._clients = clients

    async def put(self, connection: Connection, *, now: datetime, most: int) -> None:
        from google.cloud.firestore import async_transactional

        client, task = self._clients.firestore(), connection.label.task

        @async_transactional
        async def store(transaction: AsyncTransaction) -> None:
            reference = places.task(client, task)
            snapshot = await reference.get(transaction=transaction)
            known = [each async for each in reference.collection("connections").stream(transaction=transaction)]
            over = [each for each in known if each.get("expires_at") <= now]
            if not snapshot.exists or len(known) - len(over) >= most:
                raise Stale("the task is gone, or too many connections are under way")
            for each in over:
                transaction.delete(each.reference)
            document = {**documents.write(connection), EXPIRE_AT: connection.expires_at}
            transaction.create(places.connection(client, task, connection.digest), document)

        await store(client.transaction())

    async def take(self, task: str, digest: str) -> Connection | None:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        reference = places.connection(client, task, digest)

        @async_transactional
        async def remove(transaction: AsyncTransaction) -> Connection | None:
            snapshot = await reference.get(transaction=transaction)
            if not snapshot.exists:
                return None
            transaction.delete(reference)
            return documents.read(Connection, snapshot.to_dict())

        found: Connection | None = await remove(client.transaction())
        return found
