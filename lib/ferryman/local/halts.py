"""Kill switches in memory."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.halt import BY_OPERATOR, BY_OWNER
from ferryman.local.memory import Memory


class MemoryHalts:
    """`ports.Halts`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def standing(self, owner: str) -> str | None:
        if None in self._memory.halts:
            return BY_OPERATOR
        return BY_OWNER if owner in self._memory.halts else None

    async def put(self, owner: str | None, *, on: bool, now: datetime) -> None:  # noqa: ARG002 - nothing here tells since when
        if on:
            self._memory.halts.add(owner)
        else:
            self._memory.halts.discard(owner)
