"""The port of the double-entry ledger of credits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.credits.ledger import LedgerEntry


class Ledger(Protocol):
    """The entries and balances of credits, which the writes of executions create."""

    async def balance(self, balance: str) -> CreditBalance: ...
    async def of_execution(self, execution: str) -> Sequence[LedgerEntry]: ...
    async def of_owner(self, owner: str, *, since: datetime, until: datetime) -> Sequence[LedgerEntry]: ...
