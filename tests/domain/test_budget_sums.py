"""Sums of a balance: whatever the order in which executions begin and end, no cap is exceeded and every part adds up."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.credits.balance import CreditBalance, list_parts, reserve_credits, settle_credits
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.cap import Cap, CapKind
from ferryman.domain.owners.plan import PRO
from tests.builders import START, build_execution, build_policy

LIMIT = Decimal(30)
CREDITS = st.decimals(min_value="0.001", max_value="12", places=3)
PLACES = st.tuples(st.sampled_from("wx"), st.sampled_from("ab"), st.sampled_from("tu"), st.sampled_from(["", "p", "q"]))
STEPS = st.lists(st.tuples(st.booleans(), PLACES, CREDITS, CREDITS, st.integers(0, 40)), max_size=40)


def build(number: int, place: tuple[str, str, str, str]) -> Execution:
    """Return an execution in this place, whose workspace, agent, task and person have a cap of `LIMIT` each."""
    workspace, agent, task, person = place
    execution = build_execution(
        id=f"e{number}", workspace=workspace, agent=f"{workspace}-{agent}", task=f"{workspace}-{task}", person=person
    )
    caps = [
        Cap(kind=CapKind(name.partition(":")[0]), id=name.partition(":")[2], credits=LIMIT) for name in list_parts(execution)
    ]
    plan = replace(PRO, credits_per_month=2 * LIMIT)
    return replace(execution, policy=build_policy(caps=tuple(caps), plan=plan))


def check(balance: CreditBalance) -> None:
    """Check that nothing is negative or above its cap, and that workspaces, agents and tasks add up to the whole."""
    assert balance.credits_used >= 0
    assert balance.credits_reserved >= 0
    assert balance.credits_used + balance.credits_reserved <= 2 * LIMIT
    for part in balance.parts.values():
        assert min(part.credits_used, part.credits_reserved) >= 0
        assert part.credits_used + part.credits_reserved <= LIMIT
    for kind in ("workspace", "agent", "task"):
        parts = [part for name, part in balance.parts.items() if name.startswith(f"{kind}:")]
        assert sum(part.credits_used for part in parts) == balance.credits_used
        assert sum(part.credits_reserved for part in parts) == balance.credits_reserved


@given(STEPS)
def test_no_cap_is_exceeded_and_the_parts_add_up_to_the_whole(
    steps: list[tuple[bool, tuple[str, ...], Decimal, Decimal, int]],
) -> None:
    """Executions begin, and end in any order; each uses at most what it reserved."""
    balance, under_way, used_at_all = CreditBalance(id="owner:o"), [], Decimal(0)
    for number, (begins, place, reserved, used, which) in enumerate(steps):
        balance = balance.at(START)
        if begins:
            execution = build(number, place)
            try:
                balance = reserve_credits(balance, execution, reserved)
            except InsufficientCreditsError:
                continue
            under_way.append((execution, reserved, min(used, reserved)))
        elif under_way:
            execution, reserved, used = under_way.pop(which % len(under_way))
            balance = settle_credits(balance, execution, reserved=reserved, used=used)
            used_at_all += used
        check(balance)
    for execution, reserved, used in under_way:
        balance = settle_credits(balance, execution, reserved=reserved, used=used)
        used_at_all += used
    check(balance)
    assert (balance.credits_used, balance.credits_reserved) == (used_at_all, 0)


@given(st.lists(st.tuples(PLACES, CREDITS, CREDITS), max_size=6), st.randoms(use_true_random=False))
def test_the_order_in_which_executions_end_makes_no_difference(
    amounts: list[tuple[tuple[str, ...], Decimal, Decimal]], chance
) -> None:
    balance, under_way = CreditBalance(id="owner:o"), []
    for number, (place, reserved, used) in enumerate(amounts):
        execution = build(number, place)
        try:
            balance = reserve_credits(balance, execution, reserved)
        except InsufficientCreditsError:
            continue
        under_way.append((execution, reserved, min(used, reserved)))
    ends = []
    for _ in range(2):
        after = balance
        for execution, reserved, used in under_way:
            after = settle_credits(after, execution, reserved=reserved, used=used)
        ends.append(after)
        chance.shuffle(under_way)
    assert ends[0] == ends[1]


@given(PLACES, CREDITS, CREDITS, st.integers(0, 70))
def test_an_execution_that_ends_in_another_month_is_charged_to_that_one(
    place: tuple[str, ...], reserved: Decimal, used: Decimal, days: int
) -> None:
    execution, used = build(0, place), min(used, reserved)
    end: datetime = START + timedelta(days=days)
    balance = reserve_credits(CreditBalance(id="owner:o").at(START), execution, reserved).at(end)
    after = settle_credits(balance, execution, reserved=reserved, used=used)
    assert (after.month, after.credits_used, after.credits_reserved) == (end.strftime("%Y-%m"), used, 0)
    assert {part.credits_used for part in after.parts.values()} == {used}
