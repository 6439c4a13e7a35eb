"""Users' documents in memory; the version of each counts its writes."""

from __future__ import annotations

from ferryman.domain.owners.user_changes import Document
from ferryman.inmemory.memory import MemoryStore


class MemoryUserDocuments(MemoryStore):
    """`ports.UserDocuments`."""

    async def get(self, user: str, path: str) -> tuple[Document | None, str]:
        return self._memory.user_documents.get((user, path), (None, ""))
