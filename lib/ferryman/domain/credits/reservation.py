"""Reservations: the credits that an execution reserves when it begins, of its owner's month and of its task's."""

from __future__ import annotations

from decimal import Decimal

from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.stale import StaleError


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
