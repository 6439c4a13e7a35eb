"""Owners in memory."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.owners.owner import Owner
from ferryman.inmemory.memory import MemoryStore


class MemoryOwners(MemoryStore):
    """`ports.Owners`."""

    async def get(self, owner: str) -> Owner | None:
        return self._memory.owners.get(owner)

    async def put(self, owner: Owner) -> None:
        self._memory.owners[owner.id] = owner

    async def by_key(self, digest: str) -> str | None:
        return self._memory.keys.get(digest)

    async def add_key(self, digest: str, owner: str, at: datetime) -> None:  # noqa: ARG002 - nothing here lists keys by age
        if digest in self._memory.keys:
            raise ValueError("the key exists already")
        self._memory.keys[digest] = owner
