"""Alerts: each threshold of a cap is crossed once in a month, whatever the steps in which the use grows."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.credits.alert import (
    THRESHOLDS,
    Alert,
    AlertState,
    build_refusal_alert,
    find_alerts,
    find_crossed,
    select_pending,
)
from ferryman.domain.credits.balance import CreditBalance, reserve_credits, settle_credits
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.delivery import ATTEMPTS_MAX, PAUSE_MAX, compute_pause, settle_attempt
from ferryman.domain.owners.cap import Cap, CapKind
from tests.builders import START, build_execution, build_policy

CREDITS = st.decimals(min_value=0, max_value=1_000, places=3)
CAP = Cap(kind=CapKind.AGENT, id="a", credits=Decimal(100))
EXECUTION = build_execution(workspace="w", agent="a", policy=build_policy(caps=(CAP,)))
EMPTY = CreditBalance(id="owner:o", month="2026-11")


def end(balance: CreditBalance, used: str) -> tuple[CreditBalance, tuple[Alert, ...]]:
    """Return the balance after an execution that used so much, and the alerts of that."""
    after = settle_credits(balance, EXECUTION, reserved=Decimal(0), used=Decimal(used))
    return after, find_alerts(balance, after, EXECUTION, now=START)


@pytest.mark.parametrize(
    ("before", "after", "crossed"),
    [
        ("0", "49.999", ()),
        ("0", "50", (50,)),
        ("50", "79.999", ()),
        ("49.999", "80", (50, 80)),
        ("80", "99.999", ()),
        ("99.999", "100", (100,)),
        ("0", "250", (50, 80, 100)),
        ("100", "250", ()),
    ],
)
def test_a_threshold_is_crossed_where_it_is_reached(before: str, after: str, crossed: tuple[int, ...]) -> None:
    assert find_crossed(Decimal(before), Decimal(after), Decimal(100)) == crossed


@given(st.lists(CREDITS, max_size=20), st.decimals(min_value="0.001", max_value=2_000, places=3))
def test_each_threshold_that_is_reached_is_crossed_once(steps: list[Decimal], limit: Decimal) -> None:
    used, crossed = Decimal(0), list[int]()
    for step in steps:
        crossed += find_crossed(used, used + step, limit)
        used += step
    assert crossed == [percent for percent in THRESHOLDS if percent * limit <= used * 100]


def test_the_end_of_an_execution_alerts_of_each_cap_that_it_takes_over_a_threshold() -> None:
    after, alerts = end(EMPTY, "85")
    assert [(alert.kind, alert.subject, alert.percent) for alert in alerts] == [("agent", "a", 50), ("agent", "a", 80)]
    assert {(alert.workspace, alert.owner, alert.month, alert.execution) for alert in alerts} == {("w", "o", "2026-11", "e")}
    assert {(alert.limit, alert.credits_used, alert.state) for alert in alerts} == {(100, 85, AlertState.PENDING)}
    assert end(after, "1")[1] == ()


def test_a_new_month_and_another_limit_have_alerts_of_their_own() -> None:
    (first,) = end(EMPTY, "50")[1]
    (again,) = end(EMPTY, "50")[1]
    (december,) = end(replace(EMPTY, month="2026-12"), "50")[1]
    raised = replace(EXECUTION, policy=build_policy(caps=(replace(CAP, credits=Decimal(90)),)))
    after = settle_credits(EMPTY, raised, reserved=Decimal(0), used=Decimal(50))
    (other,) = find_alerts(EMPTY, after, raised, now=START)
    assert first.id == again.id
    assert len({first.id, december.id, other.id}) == 3


def test_an_alert_of_the_plan_is_of_no_workspace() -> None:
    plan = replace(build_policy().plan, credits_per_month=Decimal(10))
    execution = replace(EXECUTION, policy=build_policy(plan=plan))
    after = settle_credits(EMPTY, execution, reserved=Decimal(0), used=Decimal(5))
    (alert,) = find_alerts(EMPTY, after, execution, now=START)
    assert (alert.kind, alert.subject, alert.workspace) == (CapKind.OWNER, "pro", "")


def test_a_cap_that_refuses_an_execution_alerts_whatever_is_used() -> None:
    with pytest.raises(InsufficientCreditsError) as refused:
        reserve_credits(EMPTY, EXECUTION, Decimal(101))
    alert = build_refusal_alert(refused.value.shortage, EXECUTION, EMPTY, now=START)
    assert (alert.percent, alert.is_refused, alert.credits_used) == (100, True, 0)


def alert(**fields: object) -> Alert:
    return replace(end(EMPTY, "50")[1][0], **fields)  # type: ignore[arg-type] # each test names its own


def test_an_alert_that_is_taken_is_delivered() -> None:
    after = settle_attempt(alert(), status=204, reason="", final=False, now=START)
    assert (after.state, after.attempts, after.status, after.settled_at) == (AlertState.DELIVERED, 1, 204, START)


@pytest.mark.parametrize("status", [None, 302, 404, 500])
def test_an_alert_that_is_not_taken_is_tried_again_until_the_last_attempt(status: int | None) -> None:
    after = settle_attempt(alert(), status=status, reason="", final=False, now=START)
    assert (after.state, after.settled_at) == (AlertState.PENDING, None)
    last = settle_attempt(alert(attempts=ATTEMPTS_MAX - 1), status=status, reason="", final=False, now=START)
    assert (last.state, last.settled_at) == (AlertState.FAILED, START)


def test_an_alert_that_its_receiver_wants_no_more_of_is_not_tried_again() -> None:
    assert settle_attempt(alert(), status=410, reason="", final=True, now=START).state is AlertState.FAILED


def test_pauses_grow_up_to_the_longest() -> None:
    assert [compute_pause(attempts).total_seconds() for attempts in (1, 2, 3, 4)] == [30, 120, 480, 1_920]
    assert compute_pause(ATTEMPTS_MAX) == PAUSE_MAX
    assert sum(map(compute_pause, range(1, ATTEMPTS_MAX)), timedelta()) < timedelta(hours=24)


def test_only_pending_alerts_are_still_to_be_sent() -> None:
    assert select_pending([alert(id="a"), alert(id="b", state=AlertState.DELIVERED)]) == ("a",)
