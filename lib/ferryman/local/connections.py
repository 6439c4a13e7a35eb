"""Consents under way, in memory."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.connection import Connection
from ferryman.local.memory import Memory
from ferryman.ports import Stale


class MemoryConnections:
    """`ports.Connections`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def put(self, connection: Connection, *, now: datetime, most: int) -> None:
        task = connection.label.task
        known = self._memory.connections.get(task, {})
        live = {digest: each for digest, each in known.items() if each.expires_at > now}
        if task not in self._memory.tasks or len(live) >= most:
            raise Stale("the task is gone, or too many connections are under way")
        self._memory.connections[task] = {**live, connection.digest: connection}

    async def take(self, task: str, digest: str) -> Connection | None:
        return self._memory.connections.get(task, {}).pop(digest, None)
