"""Budgets: what is used and reserved of a cap, what is left of it, and its share in percent."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ferryman.domain.credits.balance import CreditBalance, CreditPart
from ferryman.domain.credits.budget import Budgeted, CreditBudget, list_budgets
from ferryman.domain.owners.cap import CapKind

BALANCE = CreditBalance(
    id="owner:o",
    credits_used=Decimal(7),
    credits_reserved=Decimal(3),
    parts={"agent:a": CreditPart(credits_used=Decimal(5), credits_reserved=Decimal(2))},
)


def budget(kind: CapKind, name: str, limit: str | None) -> list[CreditBudget]:
    return list_budgets(BALANCE, [Budgeted(kind=kind, id=name, name="n", limit=None if limit is None else Decimal(limit))])


def test_the_owner_s_row_is_of_the_whole_balance() -> None:
    (row,) = budget(CapKind.OWNER, "o", "20")
    assert (row.credits_used, row.credits_reserved, row.credits_left, row.percent_used) == (7, 3, 10, 35)


def test_a_part_s_row_is_of_what_is_counted_for_it() -> None:
    (row,) = budget(CapKind.AGENT, "a", "9.5")
    assert (row.credits_used, row.credits_reserved, row.credits_left, row.percent_used) == (5, 2, Decimal("2.5"), 52)


def test_what_has_a_cap_is_listed_before_anything_was_used() -> None:
    (row,) = budget(CapKind.AGENT, "b", "9")
    assert (row.credits_used, row.credits_reserved, row.credits_left, row.percent_used) == (0, 0, 9, 0)


def test_what_has_neither_a_cap_nor_any_use_is_not_listed() -> None:
    assert budget(CapKind.AGENT, "b", None) == []


def test_what_was_used_without_a_cap_has_neither_a_rest_nor_a_share() -> None:
    (row,) = budget(CapKind.AGENT, "a", None)
    assert (row.credits_used, row.limit, row.credits_left, row.percent_used) == (5, None, None, None)


@pytest.mark.parametrize(("limit", "percent"), [("5.0001", 99), ("5", 100), ("4", 125)])
def test_a_share_is_rounded_down_and_may_be_above_100_where_a_cap_was_lowered(limit: str, percent: int) -> None:
    (row,) = budget(CapKind.AGENT, "a", limit)
    assert (row.credits_left, row.percent_used) == (0, percent)
