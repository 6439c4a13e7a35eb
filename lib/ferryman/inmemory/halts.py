"""Kill switches in memory."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.executions.halt import BY_OPERATOR, BY_OWNER
from ferryman.inmemory.memory import MemoryStore


class MemoryHalts(MemoryStore):
    """`ports.Halts`."""

    async def find_halt_reason(self, owner: str, *, created: datetime | None = None) -> str | None:
        if self._stops(None, created):
            return BY_OPERATOR
        return BY_OWNER if self._stops(owner, created) else None

    async def put(self, owner: str | None, *, on: bool, now: datetime) -> None:
        if on:
            self._memory.halts.add(owner)
        elif owner in self._memory.halts:
            self._memory.halts.discard(owner)
            self._memory.released[owner] = now

    def _stops(self, owner: str | None, created: datetime | None) -> bool:
        released = self._memory.released.get(owner)
        return owner in self._memory.halts or (created is not None and released is not None and created <= released)
