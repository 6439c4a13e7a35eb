"""Credits of executions: reserved once, held before a model call, settled at the end, counted by the month."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from ferryman.domain.credits import ledger
from ferryman.domain.credits.balance import CreditBalance, InsufficientCreditsError
from ferryman.domain.executions.execution import Execution, Lease, Status
from ferryman.domain.executions.policy import ExecutionPolicy

from .conftest import Stores
from .values import (
    DONE,
    ENTRY,
    EXECUTION,
    LATER,
    LEASE,
    NOW,
    OPENING,
    POLICY,
    apply_turn,
    open_execution,
    put,
    read_execution,
)


async def test_opening_keeps_the_policy_and_reserves_the_credits(stores: Stores) -> None:
    execution = await open_execution(stores)
    assert await read_execution(stores) == execution
    assert await stores.executions.opening("exec_1") == OPENING
    for balance in ("owner:ann", "task:task_1"):
        assert await stores.ledger.balance(balance) == CreditBalance(id=balance, month="2026-11", credits_reserved=Decimal(100))
    assert list(await stores.ledger.of_execution("exec_1")) == [ENTRY]


@pytest.mark.parametrize(("month", "enough"), [(Decimal(250), True), (Decimal("249.9999"), False)])
@pytest.mark.parametrize("whose", ["plan", "task"])
async def test_no_more_is_reserved_than_the_month_has_left(stores: Stores, whose: str, month: Decimal, enough: bool) -> None:
    plan = replace(POLICY.plan, credits_per_month=month if whose == "plan" else Decimal(10_000))
    policy = replace(POLICY, plan=plan, credits_per_month=month if whose == "task" else None)
    await spend(stores, "exec_0", used=Decimal(50))  # and what the next one holds makes 150
    await start(stores, "exec_2", policy=policy)
    before = await stores.ledger.balance("owner:ann")
    if enough:
        await start(stores, "exec_3", policy=policy)
        return
    with pytest.raises(InsufficientCreditsError):
        await start(stores, "exec_3", policy=policy)
    assert await stores.ledger.balance("owner:ann") == before
    assert (await stores.executions.opening("exec_3"), list(await stores.ledger.of_execution("exec_3"))) == (None, [])


async def test_a_new_month_starts_with_nothing_used_and_what_runs_still_reserved(stores: Stores) -> None:
    await spend(stores, "exec_0", used=Decimal(50))
    await start(stores, "exec_2")
    await start(stores, "exec_3", now=NOW + timedelta(days=30))
    assert await stores.ledger.balance("owner:ann") == CreditBalance(
        id="owner:ann", month="2026-12", credits_reserved=Decimal(200)
    )


async def start(stores: Stores, name: str, *, policy: ExecutionPolicy = POLICY, now: datetime = NOW) -> Execution:
    """Return an execution of the same task that is opened `now`, with 100 credits reserved."""
    await put(stores.tasks, stores.executions, replace(EXECUTION, id=name))
    claim_execution, _ = await stores.executions.claim(name, slice=0, holder="h", now=now, lease=LEASE)
    execution = replace(claim_execution, policy=policy)
    await stores.executions.open(execution, OPENING, entry=ledger.record_reservation(execution, Decimal(100), at=now), now=now)
    return replace(execution, credits_reserved=Decimal(100))


async def spend(stores: Stores, name: str, *, used: Decimal) -> None:
    """Return an execution of the same task that has ended, with `used` of its 100 credits spent."""
    execution = replace(await start(stores, name), credits_used=used)
    entry = ledger.record_release(execution, tokens=used, fees=Decimal(0), rest=100 - used, at=NOW)
    await stores.executions.finish(execution, replace(DONE, entry=entry), now=NOW)


async def test_what_was_asked_of_the_model_is_held_before_it_is_asked(stores: Stores) -> None:
    execution = replace(await open_execution(stores), pending_model_calls=1, credits_held=Decimal("7.25"))
    after = await stores.executions.ask(execution, now=LATER, lease=LEASE)
    assert after == replace(execution, lease=Lease(holder="h", epoch=1, expires_at=LATER + LEASE))
    assert await read_execution(stores) == after


async def test_nothing_is_held_for_an_execution_that_was_cancelled(stores: Stores) -> None:
    execution = await open_execution(stores)
    await stores.executions.cancel("exec_1", now=LATER)
    assert (await stores.executions.ask(replace(execution, pending_model_calls=1), now=LATER, lease=LEASE)).cancel_requested
    assert (await read_execution(stores)).pending_model_calls == 0


async def test_the_end_is_recorded_and_the_reservation_settled(stores: Stores) -> None:
    execution = apply_turn(await open_execution(stores))
    rest = Decimal(100) - execution.credits_used
    entry = ledger.record_release(execution, tokens=execution.credits_used, fees=Decimal(0), rest=rest, at=LATER)
    await stores.executions.finish(execution, replace(DONE, entry=entry), now=LATER)
    assert await read_execution(stores) == replace(
        execution, status=Status.COMPLETED, output="done", completed_at=LATER, lease=None
    )
    for balance in ("owner:ann", "task:task_1"):
        assert await stores.ledger.balance(balance) == CreditBalance(id=balance, month="2026-11", credits_used=Decimal("0.125"))
    entries = await stores.ledger.of_execution("exec_1")
    assert ledger.sum_accounts(entries) == {
        "owner:ann": Decimal("-0.125"),
        "execution:exec_1": 0,
        "llm_tokens": Decimal("0.125"),
    }
    month = await stores.ledger.of_owner("ann", since=NOW, until=LATER)
    assert list(month) == [ENTRY]


async def test_what_is_reserved_at_once_is_all_counted(stores: Stores) -> None:
    await asyncio.gather(*(start(stores, f"exec_{number}") for number in range(6)))
    assert (await stores.ledger.balance("owner:ann")).credits_reserved == 600


async def test_a_month_never_runs_backwards(stores: Stores) -> None:
    old = await start(stores, "exec_1", now=NOW)
    late = NOW + timedelta(days=30)
    await start(stores, "exec_2", now=late)
    entry = ledger.record_release(old, tokens=Decimal(7), fees=Decimal(0), rest=Decimal(93), at=NOW)
    await stores.executions.finish(replace(old, credits_used=Decimal(7)), replace(DONE, entry=entry), now=NOW)
    balance = await stores.ledger.balance("owner:ann")
    assert (balance.month, balance.credits_used, balance.credits_reserved) == ("2026-12", Decimal(7), Decimal(100))
