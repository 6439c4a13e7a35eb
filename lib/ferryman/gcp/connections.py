"""Consents under way, in Firestore: below their task or MCP server, by the digest of their state."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.credentials.connection import Connection
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.stale import StaleError
from ferryman.gcp import documents, keyed
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.places import TASKS
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import FirestoreStore, Transaction, in_transaction


class FirestoreConnections(FirestoreStore):
    """`ports.Connections`, of the documents of one collection: the tasks, or `MCP_SERVERS`."""

    def __init__(self, clients: FirestoreClient, holders: str = TASKS) -> None:
        super().__init__(clients)
        self._holders = holders

    @in_transaction
    async def put(
        self, transaction: Transaction, connection: Connection, *, now: datetime, most: int, done: Completion | None = None
    ) -> None:
        task = connection.label.task
        answered = await keyed.read_completion(transaction, self._places, done)
        reference = self._places.locate_holder(self._holders, task)
        task_exists = (await reference.get(transaction=transaction)).exists
        stored = [snapshot async for snapshot in reference.collection("connections").stream(transaction=transaction)]
        if any(snapshot.id == connection.digest for snapshot in stored):
            return  # an earlier attempt was committed, and its answer lost
        expired = [snapshot for snapshot in stored if snapshot.get("expires_at") <= now]
        if not task_exists or len(stored) - len(expired) >= most:
            raise StaleError("it was deleted meanwhile, or too many connections are under way")
        for snapshot in expired:
            transaction.delete(snapshot.reference)
        document = {**documents.write(connection), EXPIRE_AT: connection.expires_at}
        transaction.create(self._places.locate_connection(task, connection.digest, self._holders), document)
        keyed.store_completion(transaction, self._places, answered)

    @in_transaction
    async def take(self, transaction: Transaction, task: str, digest: str) -> Connection | None:
        reference = self._places.locate_connection(task, digest, self._holders)
        connection = documents.read_or_none(Connection, await reference.get(transaction=transaction))
        if connection is not None:
            transaction.delete(reference)
        return connection
