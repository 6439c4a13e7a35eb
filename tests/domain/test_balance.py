"""Balances: what is used and reserved of a month's credits."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman.domain.credits.balance import (
    CreditBalance,
    InsufficientCreditsError,
    get_month,
    name_owner_balance,
    name_task_balance,
)
from tests.builders import START

BALANCE = CreditBalance(id="owner:o", month="2026-11", credits_used=Decimal("7.5"), credits_reserved=Decimal(2))


def test_owners_and_tasks_have_balances_of_their_own():
    assert (name_owner_balance("x"), name_task_balance("x")) == ("owner:x", "task:x")


def test_a_new_balance_has_no_month_nothing_used_and_nothing_reserved():
    assert CreditBalance(id="b") == CreditBalance(id="b", month="", credits_used=Decimal(0), credits_reserved=Decimal(0))


def test_a_month_is_its_year_and_two_digits():
    assert (get_month(START), get_month(START.replace(month=1))) == ("2026-11", "2026-01")


def test_within_its_month_a_balance_stays_as_it_is():
    assert BALANCE.at(START) is BALANCE


def test_a_new_month_begins_with_nothing_used_and_what_is_reserved_stays():
    december = CreditBalance(id="owner:o", month="2026-12", credits_used=Decimal(0), credits_reserved=Decimal(2))
    assert BALANCE.at(START + timedelta(days=10)) == december


def test_a_balance_never_returns_to_a_month_before():
    assert BALANCE.at(START - timedelta(days=30)) is BALANCE


def test_credits_are_reserved_up_to_the_limit_itself():
    reserved = BALANCE.reserve(Decimal("0.5"), limit=Decimal(10), whose="the task")
    assert reserved == CreditBalance(
        id="owner:o", month="2026-11", credits_used=Decimal("7.5"), credits_reserved=Decimal("2.5")
    )


def test_above_the_limit_nothing_is_reserved_and_the_limit_is_told():
    with pytest.raises(InsufficientCreditsError, match=r"^0\.6 credits are not left this month of the 10 of the task$"):
        BALANCE.reserve(Decimal("0.6"), limit=Decimal(10), whose="the task")


def test_a_settled_execution_returns_its_reservation_and_leaves_what_it_used():
    assert BALANCE.settle(reserved=Decimal("1.5"), used=Decimal(1)) == CreditBalance(
        id="owner:o", month="2026-11", credits_used=Decimal("8.5"), credits_reserved=Decimal("0.5")
    )


def test_no_more_than_everything_reserved_is_returned():
    assert BALANCE.settle(reserved=Decimal(3), used=Decimal(0)).credits_reserved == 0
