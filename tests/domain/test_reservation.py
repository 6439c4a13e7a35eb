"""Reservations: within the plan of the owner and within each cap, and the message says which one refuses and what to do."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from ferryman.domain.credits.balance import CreditBalance, CreditPart, list_caps, reserve_credits
from ferryman.domain.credits.caps import collect_caps
from ferryman.domain.credits.shortage import InsufficientCreditsError, name_next_month
from ferryman.domain.owners.cap import Cap, CapKind
from ferryman.domain.owners.plan import PRO
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.agent import build_default_agent
from ferryman.domain.workspaces.member import Membership, Role
from ferryman.domain.workspaces.workspace import build_default_workspace
from tests.builders import START, build_execution, build_policy, build_task

WORKSPACE = replace(build_default_workspace("o"), id="w", max_credits_month=Decimal(500))
AGENT = replace(build_default_agent("o", "w"), id="a", max_credits_month=Decimal(400))
MEMBER = Membership(owner="o", workspace="w", person="p", role=Role.OPERATOR, max_credits_month=Decimal(300), created_at=START)
TASK = build_task(workspace="w", agent="a", max_credits_month=Decimal(100))
CAPS = collect_caps(TASK, workspace=WORKSPACE, agent=AGENT, member=MEMBER)
LIMITED = build_execution(workspace="w", agent="a", person="p", policy=build_policy(caps=CAPS))
EMPTY = CreditBalance(id="owner:o", month="2026-11")
KINDS = {cap.kind: cap for cap in CAPS}


def count(kind: CapKind, used: str, reserved: str = "0") -> CreditBalance:
    """Return the balance of an owner in which the part that the cap of this kind limits has used and reserved so much."""
    part = CreditPart(credits_used=Decimal(used), credits_reserved=Decimal(reserved))
    return replace(
        EMPTY, credits_used=part.credits_used, credits_reserved=part.credits_reserved, parts={KINDS[kind].part: part}
    )


def refuse(balance: CreditBalance, amount: str) -> str:
    """Return the message with which a reservation of `LIMITED` is refused."""
    with pytest.raises(InsufficientCreditsError) as refused:
        reserve_credits(balance, LIMITED, Decimal(amount))
    return str(refused.value)


def test_caps_are_collected_from_the_outermost_to_the_innermost() -> None:
    assert list(CAPS) == [
        Cap(kind=CapKind.WORKSPACE, id="w", credits=Decimal(500)),
        Cap(kind=CapKind.AGENT, id="a", credits=Decimal(400)),
        Cap(kind=CapKind.PERSON, id="w/p", credits=Decimal(300)),
        Cap(kind=CapKind.TASK, id="t", credits=Decimal(100)),
    ]


def test_what_has_no_cap_is_not_among_them() -> None:
    assert collect_caps(build_task(), workspace=build_default_workspace("o"), agent=build_default_agent("o", "w")) == ()


def test_the_plan_comes_before_the_caps_of_the_policy() -> None:
    assert list_caps(LIMITED.policy) == (Cap(kind=CapKind.OWNER, id="pro", credits=PRO.credits_per_month), *CAPS)


@pytest.mark.parametrize("kind", list(KINDS))
def test_credits_are_reserved_up_to_each_cap_itself_and_no_further(kind: CapKind) -> None:
    cap = KINDS[kind]
    balance = count(kind, used=str(cap.credits - 30), reserved="20")
    assert reserve_credits(balance, LIMITED, Decimal(10)).parts[cap.part].credits_reserved == 30
    assert refuse(balance, "10.0001").startswith("10.0001 credits do not fit")


def test_a_cap_that_is_reached_is_named_with_what_is_used_and_reserved_of_it_and_what_to_do() -> None:
    assert refuse(count(CapKind.AGENT, used="390", reserved="5"), "6") == (
        "6 credits do not fit: agent a may use 400 credits a month, of which 390 are used and 5 reserved; start it "
        "again when executions under way have ended, or raise max_credits_month of the agent"
    )


def test_where_the_cap_is_used_up_the_message_names_the_month_to_wait_for() -> None:
    assert refuse(count(CapKind.PERSON, used="299.5"), "1") == (
        "1 credits do not fit: person p may use 300 credits a month in the workspace, of which 299.5 are used and 0 "
        "reserved; lower max_credits of the task, raise max_credits_month of the member, or wait for 2026-12 (UTC)"
    )


def test_a_task_that_reserves_more_than_a_whole_month_is_told_that_waiting_is_in_vain() -> None:
    assert refuse(EMPTY, "101") == (
        "101 credits do not fit: task t may use 100 credits a month, of which 0 are used and 0 reserved; lower "
        "max_credits of the task to 100 or less, or raise max_credits_month of the task"
    )


def test_the_message_of_the_plan_tells_nothing_of_the_owner_s_other_workspaces() -> None:
    others = CreditPart(credits_used=Decimal(54_000))
    balance = replace(
        EMPTY, credits_used=Decimal(54_990), parts={"workspace:x": others, "workspace:w": CreditPart(credits_used=Decimal(40))}
    )
    assert refuse(balance, "11") == (
        "11 credits do not fit: plan pro allows 55000 credits a month over all workspaces, of which 40 are used and 0 "
        "reserved in this one; lower max_credits of the task, change the plan, or wait for 2026-12 (UTC)"
    )


def test_a_limit_of_nothing_is_a_limit() -> None:
    nothing = build_policy(caps=(Cap(kind=CapKind.TASK, id="t", credits=Decimal(0)),))
    with pytest.raises(InsufficientCreditsError, match="task t may use 0 credits a month"):
        reserve_credits(EMPTY, build_execution(policy=nothing), Decimal(1))


def test_an_execution_without_a_policy_reserves_nothing() -> None:
    with pytest.raises(StaleError, match=r"^the execution has no policy$"):
        reserve_credits(EMPTY, build_execution(), Decimal(1))


@pytest.mark.parametrize(("month", "following"), [("2026-11", "2026-12"), ("2026-12", "2027-01")])
def test_the_month_after_december_is_the_next_year_s_january(month: str, following: str) -> None:
    assert name_next_month(month) == following
