"""Imported history in memory."""

from __future__ import annotations

from collections.abc import Sequence

from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.inmemory.memory import MemoryStore


class MemoryArchives(MemoryStore):
    """`ports.Archives`."""

    async def list_entries(self, execution: str) -> Sequence[LedgerEntry]:
        return self._memory.imported_entries.get(execution, ())
