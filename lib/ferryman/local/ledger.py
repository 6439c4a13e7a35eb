"""The ledger in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.domain.ledger import Entry
from ferryman.domain.purse import Purse
from ferryman.local.memory import Memory


class MemoryLedger:
    """`ports.Ledger`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def purse(self, purse: str) -> Purse:
        return self._memory.purses.get(purse, Purse(id=purse))

    async def of_execution(self, execution: str) -> Sequence[Entry]:
        return sorted((each for each in self._memory.entries.values() if each.execution == execution), key=lambda each: each.at)

    async def of_owner(self, owner: str, *, since: datetime, until: datetime) -> Sequence[Entry]:
        found = (each for each in self._memory.entries.values() if each.owner == owner and since <= each.at < until)
        return sorted(found, key=lambda each: each.at)
