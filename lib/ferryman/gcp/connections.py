"""Consents under way, in Firestore: below their task, by the digest of their state."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ferryman.domain.credentials.connection import Connection
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.stale import StaleError
from ferryman.gcp import documents, keyed, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import FirestoreStore

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction


@translate_errors
class FirestoreConnections(FirestoreStore):
    """`ports.Connections`."""

    async def put(self, connection: Connection, *, now: datetime, most: int, done: Completion | None = None) -> None:
        client, task = self._client, connection.label.task

        async def store(transaction: AsyncTransaction) -> None:
            answered = await keyed.read_completion(transaction, client, done)
            reference = places.locate_task(client, task)
            task_exists = (await reference.get(transaction=transaction)).exists
            stored = [snapshot async for snapshot in reference.collection("connections").stream(transaction=transaction)]
            if any(snapshot.id == connection.digest for snapshot in stored):
                return  # an earlier attempt was committed, and its answer lost
            expired = [snapshot for snapshot in stored if snapshot.get("expires_at") <= now]
            if not task_exists or len(stored) - len(expired) >= most:
                raise StaleError("the task was deleted, or too many connections are under way")
            for snapshot in expired:
                transaction.delete(snapshot.reference)
            document = {**documents.write(connection), EXPIRE_AT: connection.expires_at}
            transaction.create(places.locate_connection(client, task, connection.digest), document)
            keyed.store_completion(transaction, client, answered)

        await self._transact(store)

    async def take(self, task: str, digest: str) -> Connection | None:
        reference = places.locate_connection(self._client, task, digest)

        async def remove(transaction: AsyncTransaction) -> Connection | None:
            connection = documents.read_or_none(Connection, await reference.get(transaction=transaction))
            if connection is not None:
                transaction.delete(reference)
            return connection

        return await self._transact(remove)
