"""The ledger in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.inmemory.memory import MemoryStore


class MemoryLedger(MemoryStore):
    """`ports.Ledger`."""

    async def balance(self, balance: str) -> CreditBalance:
        return self._memory.balances.get(balance, CreditBalance(id=balance))

    async def of_execution(self, execution: str) -> Sequence[LedgerEntry]:
        return sorted(
            (entry for entry in self._memory.entries.values() if entry.execution == execution), key=lambda entry: entry.at
        )

    async def of_owner(self, owner: str, *, since: datetime, until: datetime) -> Sequence[LedgerEntry]:
        entries = (entry for entry in self._memory.entries.values() if entry.owner == owner and since <= entry.at < until)
        return sorted(entries, key=lambda entry: entry.at)
