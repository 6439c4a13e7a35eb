"""The ledger in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.inmemory.memory import Memory


class MemoryLedger:
    """`ports.Ledger`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def balance(self, balance: str) -> CreditBalance:
        return self._memory.balances.get(balance, CreditBalance(id=balance))

    async def of_execution(self, execution: str) -> Sequence[LedgerEntry]:
        return sorted((each for each in self._memory.entries.values() if each.execution == execution), key=lambda each: each.at)

    async def of_owner(self, owner: str, *, since: datetime, until: datetime) -> Sequence[LedgerEntry]:
        found = (each for each in self._memory.entries.values() if each.owner == owner and since <= each.at < until)
        return sorted(found, key=lambda each: each.at)
