"""Credit balances: what an owner or a task has used in a month, and what is reserved for executions when they begin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.stale import StaleError


class InsufficientCreditsError(Exception):
    """The month's credits do not cover the reservation; nothing was reserved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditBalance:
    """`credits_used` are those of `month` (UTC, "2026-11"); `credits_reserved` may have been reserved in an earlier month."""

    id: str
    month: str = ""
    credits_used: Decimal = Decimal(0)
    credits_reserved: Decimal = Decimal(0)

    def at(self, now: datetime) -> CreditBalance:
        """Return the balance in the month of `now`, or in its own where that is later; a new month begins with nothing used.

        The month never goes back: a writer may have read the clock before the month changed.
        """
        month = max(self.month, get_month(now))
        return self if self.month == month else replace(self, month=month, credits_used=Decimal(0))

    def reserve(self, amount: Decimal, *, limit: Decimal, whose: str) -> CreditBalance:
        """Return the balance with `amount` reserved. Raise `InsufficientCreditsError` above `limit` credits a month."""
        if self.credits_used + self.credits_reserved + amount > limit:
            raise InsufficientCreditsError(f"{amount} credits are not left this month of the {limit} of {whose}")
        return replace(self, credits_reserved=self.credits_reserved + amount)

    def settle(self, *, reserved: Decimal, used: Decimal) -> CreditBalance:
        """Return the balance after an execution with `reserved` credits ended and used `used` of them."""
        rest = max(Decimal(0), self.credits_reserved - reserved)
        return replace(self, credits_reserved=rest, credits_used=self.credits_used + used)


def name_owner_balance(owner: str) -> str:
    """Return the id of an owner's balance, which is also the owner's account in the ledger."""
    return f"owner:{owner}"


def name_task_balance(task: str) -> str:
    """Return the id of a task's balance."""
    return f"task:{task}"


def get_month(moment: datetime) -> str:
    """Return the credit month of `moment` (UTC)."""
    return moment.strftime("%Y-%m")


def reserve_credits(
    policy: ExecutionPolicy | None, amount: Decimal, *, owner: CreditBalance, task: CreditBalance
) -> tuple[CreditBalance, CreditBalance]:
    """Return the balances of owner and task with `amount` credits reserved. Raise `InsufficientCreditsError`."""
    if policy is None:
        raise StaleError("the execution has no policy")
    month = policy.plan.credits_per_month
    task_month = month if policy.credits_per_month is None else policy.credits_per_month
    return (
        owner.reserve(amount, limit=month, whose=f"plan {policy.plan.name}"),
        task.reserve(amount, limit=task_month, whose="the task"),
    )
