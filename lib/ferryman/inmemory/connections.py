"""Consents under way, in memory."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.credentials.connection import Connection
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.stale import StaleError
from ferryman.inmemory import keyed
from ferryman.inmemory.memory import MemoryStore


class MemoryConnections(MemoryStore):
    """`ports.Connections`."""

    async def put(self, connection: Connection, *, now: datetime, most: int, done: Completion | None = None) -> None:
        keyed.check_completion(self._memory, done)
        task = connection.label.task
        known = self._memory.connections.get(task, {})
        live = {digest: stored for digest, stored in known.items() if stored.expires_at > now}
        if task not in self._memory.tasks or len(live) >= most:
            raise StaleError("the task was deleted, or too many connections are under way")
        self._memory.connections[task] = {**live, connection.digest: connection}
        keyed.store_completion(self._memory, done)

    async def take(self, task: str, digest: str) -> Connection | None:
        return self._memory.connections.get(task, {}).pop(digest, None)
