"""Nonces in memory."""

from __future__ import annotations

from datetime import datetime

from ferryman.inmemory.memory import MemoryStore


class MemoryNonces(MemoryStore):
    """`ports.Nonces`."""

    async def use(self, nonce: str, *, until: datetime) -> bool:
        is_new = nonce not in self._memory.nonces
        self._memory.nonces.setdefault(nonce, until)
        return is_new
