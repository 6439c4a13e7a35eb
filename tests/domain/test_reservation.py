"""Reservations: of the owner's month and of the task's, each within its limit."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from ferryman.domain.credits.balance import CreditBalance, InsufficientCreditsError, reserve_credits
from ferryman.domain.owners.plan import PRO
from ferryman.domain.stale import StaleError
from tests.builders import build_policy

OWNER, TASK = CreditBalance(id="owner:o", credits_used=Decimal(54_990)), CreditBalance(id="task:t", credits_used=Decimal(90))
LIMITED = build_policy(credits_per_month=Decimal(100))


def test_both_balances_reserve_what_an_execution_starts_with():
    assert reserve_credits(LIMITED, Decimal(10), owner=OWNER, task=TASK) == (
        replace(OWNER, credits_reserved=Decimal(10)),
        replace(TASK, credits_reserved=Decimal(10)),
    )


def test_a_task_without_a_limit_has_its_plan_s():
    spent = replace(TASK, credits_used=PRO.credits_per_month)
    with pytest.raises(InsufficientCreditsError, match=r"^1 credits are not left this month of the 55000 of the task$"):
        reserve_credits(build_policy(), Decimal(1), owner=replace(OWNER, credits_used=Decimal(0)), task=spent)
    owner, task = reserve_credits(build_policy(), Decimal(10), owner=OWNER, task=TASK)
    assert (owner.credits_reserved, task.credits_reserved) == (10, 10)


def test_a_limit_of_nothing_is_a_limit():
    with pytest.raises(InsufficientCreditsError, match="of the 0 of the task"):
        reserve_credits(build_policy(credits_per_month=Decimal(0)), Decimal(1), owner=OWNER, task=TASK)


def test_the_owner_s_limit_is_told_with_the_plan():
    with pytest.raises(InsufficientCreditsError, match=r"^11 credits are not left this month of the 55000 of plan pro$"):
        reserve_credits(build_policy(), Decimal(11), owner=OWNER, task=TASK)


def test_an_execution_without_a_policy_reserves_nothing():
    with pytest.raises(StaleError, match=r"^the execution has no policy$"):
        reserve_credits(None, Decimal(1), owner=OWNER, task=TASK)
