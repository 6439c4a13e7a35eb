"""Consents under way, in Firestore: below their task, by the digest of their state."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ferryman.domain.credentials.connection import Connection
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.stale import StaleError
from ferryman.gcp import documents, keyed, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.transactions import transact

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction


@translate_errors
class FirestoreConnections:
    """`ports.Connections`."""

    def __init__(self, clients: FirestoreClient) -> None:
        self._clients = clients

    async def put(self, connection: Connection, *, now: datetime, most: int, done: Completion | None = None) -> None:
        client, task = self._clients.firestore(), connection.label.task

        async def store(transaction: AsyncTransaction) -> None:
            answered = await keyed.read_completion(transaction, client, done)
            reference = places.locate_task(client, task)
            snapshot = await reference.get(transaction=transaction)
            known = [each async for each in reference.collection("connections").stream(transaction=transaction)]
            if any(each.id == connection.digest for each in known):
                return  # an attempt before this one was committed, unheard
            over = [each for each in known if each.get("expires_at") <= now]
            if not snapshot.exists or len(known) - len(over) >= most:
                raise StaleError("the task is gone, or too many connections are under way")
            for each in over:
                transaction.delete(each.reference)
            document = {**documents.write(connection), EXPIRE_AT: connection.expires_at}
            transaction.create(places.locate_connection(client, task, connection.digest), document)
            keyed.store_completion(transaction, client, answered)

        await transact(client.transaction(), store)

    async def take(self, task: str, digest: str) -> Connection | None:
        client = self._clients.firestore()
        reference = places.locate_connection(client, task, digest)

        async def remove(transaction: AsyncTransaction) -> Connection | None:
            snapshot = await reference.get(transaction=transaction)
            if not snapshot.exists:
                return None
            transaction.delete(reference)
            return documents.read(Connection, snapshot.to_dict())

        return await transact(client.transaction(), remove)
