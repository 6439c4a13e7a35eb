"""Backpressure: bounded concurrency per owner, so that an owner with many jobs waits for its own and for no other's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class _Turn:
    free: asyncio.Semaphore
    users: int = 0
    """How many hold a turn or wait for one."""


class OwnerLimiter:
    """At most `per_owner` turns at once for every owner; the next one waits until a turn of the same owner ends.

    Of one process and one event loop. Memory is that of the owners who hold turns or wait for them.
    """

    def __init__(self, per_owner: int) -> None:
        self._per_owner = per_owner
        self._turns: dict[str, _Turn] = {}

    def __len__(self) -> int:
        """Return how many owners hold turns or wait for them."""
        return len(self._turns)

    def count(self, owner: str) -> int:
        """Return how many turns `owner` holds or waits for."""
        return self._turns[owner].users if owner in self._turns else 0

    async def take(self, owner: str) -> None:
        """Take a turn once there is one; `give` ends it. A caller that is cancelled while waiting holds none."""
        turn = self._turns.setdefault(owner, _Turn(asyncio.Semaphore(self._per_owner)))
        turn.users += 1
        try:
            await turn.free.acquire()
        except BaseException:
            self._leave(owner, turn)
            raise

    def give(self, owner: str) -> None:
        """End a turn that was taken."""
        turn = self._turns[owner]
        turn.free.release()
        self._leave(owner, turn)

    @asynccontextmanager
    async def turn(self, owner: str) -> AsyncIterator[None]:
        """Hold a turn for as long as the block runs."""
        await self.take(owner)
        try:
            yield
        finally:
            self.give(owner)

    def _leave(self, owner: str, turn: _Turn) -> None:
        turn.users -= 1
        if not turn.users:
            del self._turns[owner]
