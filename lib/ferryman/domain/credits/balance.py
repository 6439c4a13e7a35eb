"""Purses: what an owner or a task has spent of a month's credits, and what its executions under way hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal


class InsufficientCreditsError(Exception):
    """The month's credits do not cover what was to be reserved; nothing was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditBalance:
    """`credits_used` are of `month` (UTC, "2026-11"); `credits_reserved` are held, whatever month that began in."""

    id: str
    month: str = ""
    credits_used: Decimal = Decimal(0)
    credits_reserved: Decimal = Decimal(0)

    def at(self, now: datetime) -> CreditBalance:
        """The purse in the month of `now`, or in its own where that is later: what was used in an older one counts as nothing.

        A month never runs backwards: who read the clock before its turn may write after it.
        """
        month = max(self.month, get_month(now))
        return self if self.month == month else replace(self, month=month, credits_used=Decimal(0))

    def reserve(self, amount: Decimal, *, limit: Decimal, whose: str) -> CreditBalance:
        """The purse with `amount` held as well. Raises `InsufficientCreditsError` when `limit` credits a month do not cover
        them."""
        if self.credits_used + self.credits_reserved + amount > limit:
            raise InsufficientCreditsError(f"{amount} credits are not left this month of the {limit} of {whose}")
        return replace(self, credits_reserved=self.credits_reserved + amount)

    def settle(self, *, reserved: Decimal, used: Decimal) -> CreditBalance:
        """The purse when what `reserved` was held for has ended, having used `used` of it."""
        left = max(Decimal(0), self.credits_reserved - reserved)
        return replace(self, credits_reserved=left, credits_used=self.credits_used + used)


def name_owner_balance(owner: str) -> str:
    """The id of an owner's purse, which is the owner's account in the ledger too."""
    return f"owner:{owner}"


def name_task_balance(task: str) -> str:
    """The id of a task's purse."""
    return f"task:{task}"


def get_month(moment: datetime) -> str:
    """The credit month `moment` (UTC) falls in."""
    return moment.strftime("%Y-%m")
