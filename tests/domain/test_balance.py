"""Balances: what is used and reserved of a month's credits, in all and by part."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman.domain.credits import balance as balances
from ferryman.domain.credits.balance import (
    CreditBalance,
    CreditPart,
    get_month,
    list_parts,
    name_owner_balance,
    reserve_credits,
    settle_credits,
)
from ferryman.domain.credits.shortage import TooManyPartsError
from ferryman.domain.owners.cap import Cap, CapKind
from tests.builders import START, build_execution, build_policy

RESERVED = CreditPart(credits_used=Decimal("7.5"), credits_reserved=Decimal(2))
SPENT = CreditPart(credits_used=Decimal(1))
BALANCE = CreditBalance(
    id="owner:o",
    month="2026-11",
    credits_used=Decimal("8.5"),
    credits_reserved=Decimal(2),
    parts={"workspace:w": RESERVED, "workspace:x": SPENT},
)
EXECUTION = build_execution(workspace="w", agent="a", person="p", policy=build_policy())


def test_the_balance_of_an_owner_has_an_id_of_its_own() -> None:
    assert name_owner_balance("x") == "owner:x"


def test_a_new_balance_has_no_month_nothing_used_and_nothing_reserved() -> None:
    empty = CreditBalance(id="b", month="", credits_used=Decimal(0), credits_reserved=Decimal(0), parts={})
    assert CreditBalance(id="b") == empty


def test_a_month_is_its_year_and_two_digits() -> None:
    assert (get_month(START), get_month(START.replace(month=1))) == ("2026-11", "2026-01")


def test_within_its_month_a_balance_stays_as_it_is() -> None:
    assert BALANCE.at(START) is BALANCE


def test_a_new_month_begins_with_nothing_used_and_what_is_reserved_stays() -> None:
    december = CreditBalance(
        id="owner:o",
        month="2026-12",
        credits_reserved=Decimal(2),
        parts={"workspace:w": CreditPart(credits_reserved=Decimal(2))},
    )
    assert BALANCE.at(START + timedelta(days=10)) == december


def test_a_balance_never_returns_to_a_month_before() -> None:
    assert BALANCE.at(START - timedelta(days=30)) is BALANCE


def test_an_execution_is_counted_for_its_workspace_agent_task_and_person() -> None:
    assert list_parts(EXECUTION) == ("workspace:w", "agent:a", "task:t", "person:w/p")


def test_an_execution_that_no_person_started_is_counted_for_none() -> None:
    assert list_parts(replace(EXECUTION, person="")) == ("workspace:w", "agent:a", "task:t")


def test_a_conversation_is_counted_where_its_cap_holds_for_the_execution() -> None:
    caps = (Cap(kind=CapKind.TASK, id="t", credits=Decimal(9)), Cap(kind=CapKind.CONVERSATION, id="c", credits=Decimal(9)))
    parts = list_parts(replace(EXECUTION, policy=build_policy(caps=caps)))
    assert parts == ("workspace:w", "agent:a", "task:t", "person:w/p", "conversation:c")


def test_what_is_reserved_is_counted_in_all_and_in_each_part() -> None:
    after = reserve_credits(BALANCE, EXECUTION, Decimal("0.5"))
    assert (after.credits_used, after.credits_reserved) == (Decimal("8.5"), Decimal("2.5"))
    half = CreditPart(credits_reserved=Decimal("0.5"))
    assert after.parts == {
        "workspace:w": CreditPart(credits_used=Decimal("7.5"), credits_reserved=Decimal("2.5")),
        "workspace:x": SPENT,
        **dict.fromkeys(("agent:a", "task:t", "person:w/p"), half),
    }


def test_a_settled_execution_returns_its_reservation_and_leaves_what_it_used() -> None:
    reserved = reserve_credits(CreditBalance(id="owner:o", month="2026-11"), EXECUTION, Decimal(2))
    after = settle_credits(reserved, EXECUTION, reserved=Decimal(2), used=Decimal("1.5"))
    used = CreditPart(credits_used=Decimal("1.5"))
    assert (after.credits_used, after.credits_reserved) == (Decimal("1.5"), Decimal(0))
    assert after.parts == dict.fromkeys(("workspace:w", "agent:a", "task:t", "person:w/p"), used)


def test_a_part_of_an_execution_that_used_nothing_is_not_kept() -> None:
    reserved = reserve_credits(CreditBalance(id="owner:o"), EXECUTION, Decimal(2))
    assert settle_credits(reserved, EXECUTION, reserved=Decimal(2), used=Decimal(0)) == CreditBalance(id="owner:o")


def test_no_more_than_everything_reserved_is_returned() -> None:
    after = settle_credits(BALANCE, EXECUTION, reserved=Decimal(3), used=Decimal(0))
    assert (after.credits_reserved, after.parts["workspace:w"].credits_reserved) == (0, 0)


def test_above_the_most_parts_those_of_the_smallest_use_without_a_cap_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balances, "PARTS_MAX", 6)
    full = replace(BALANCE, parts={"agent:capped": replace(SPENT, is_capped=True), "task:a": SPENT, **BALANCE.parts})
    after = reserve_credits(full, EXECUTION, Decimal(1))
    assert set(after.parts) == {"agent:capped", "workspace:w", "workspace:x", "agent:a", "task:t", "person:w/p"}


def test_where_every_part_has_a_cap_or_a_reservation_nothing_is_reserved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balances, "PARTS_MAX", 3)
    with pytest.raises(TooManyPartsError, match=r"^3 workspaces, agents, people and tasks with a cap"):
        reserve_credits(BALANCE, EXECUTION, Decimal(1))
