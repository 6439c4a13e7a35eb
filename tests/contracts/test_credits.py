"""Credits of executions: reserved once, held before a model call, settled at the end, counted by the month."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from ferryman.domain.credits import ledger
from ferryman.domain.credits.balance import CreditBalance, CreditPart, list_parts
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.executions.execution import OWNER, Execution, Lease, Status
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.owners.cap import Cap, CapKind

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

CONVERSATION = "talk_1"
CAPS = {
    CapKind.OWNER: "guru",
    CapKind.WORKSPACE: EXECUTION.workspace,
    CapKind.AGENT: EXECUTION.agent,
    CapKind.PERSON: f"{EXECUTION.workspace}/pat",
    CapKind.TASK: EXECUTION.task,
    CapKind.CONVERSATION: f"{EXECUTION.agent}/{CONVERSATION}",
}


async def test_opening_keeps_the_policy_and_reserves_the_credits(stores: Stores) -> None:
    execution = await open_execution(stores)
    assert await read_execution(stores) == execution
    assert await stores.executions.opening("exec_1") == OPENING
    reserved = CreditPart(credits_reserved=Decimal(100))
    assert await stores.ledger.balance("owner:ann") == CreditBalance(
        id="owner:ann", month="2026-11", credits_reserved=Decimal(100), parts=dict.fromkeys(list_parts(execution), reserved)
    )
    assert list(await stores.ledger.of_execution("exec_1")) == [ENTRY]


@pytest.mark.parametrize(("month", "enough"), [(Decimal(250), True), (Decimal("249.9999"), False)])
@pytest.mark.parametrize("whose", list(CAPS))
async def test_no_more_is_reserved_than_the_month_has_left(
    stores: Stores, whose: CapKind, month: Decimal, enough: bool
) -> None:
    policy = limit(whose, month)
    await spend(stores, "exec_0", used=Decimal(50), policy=policy)  # and what the next one holds makes 150
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
    balance = await stores.ledger.balance("owner:ann")
    assert (balance.month, balance.credits_used, balance.credits_reserved) == ("2026-12", 0, Decimal(200))
    assert set(balance.parts.values()) == {CreditPart(credits_reserved=Decimal(200))}


def limit(kind: CapKind, month: Decimal) -> ExecutionPolicy:
    """Return the policy with a cap of this kind, and the plan's where that is not the one."""
    if kind is CapKind.OWNER:
        return replace(POLICY, plan=replace(POLICY.plan, credits_per_month=month))
    return replace(POLICY, caps=(Cap(kind=kind, id=CAPS[kind], credits=month),))


@pytest.mark.parametrize("whose", list(CAPS))
async def test_of_64_executions_that_begin_at_once_as_many_do_as_the_cap_allows(stores: Stores, whose: CapKind) -> None:
    policy = limit(whose, Decimal(1_050))
    outcomes = await asyncio.gather(
        *(start(stores, f"exec_{number}", policy=policy) for number in range(64)), return_exceptions=True
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, InsufficientCreditsError)]
    assert (len(refused), {error.shortage.cap.kind for error in refused}) == (54, {whose})
    assert len([outcome for outcome in outcomes if isinstance(outcome, Execution)]) == 10
    balance = await stores.ledger.balance("owner:ann")
    assert (balance.credits_reserved, balance.parts[f"workspace:{EXECUTION.workspace}"].credits_reserved) == (1_000, 1_000)


async def test_a_cap_that_was_changed_holds_for_the_next_execution(stores: Stores) -> None:
    await start(stores, "exec_1", policy=limit(CapKind.AGENT, Decimal(100)))
    with pytest.raises(InsufficientCreditsError):
        await start(stores, "exec_2", policy=limit(CapKind.AGENT, Decimal(199)))
    await start(stores, "exec_3", policy=limit(CapKind.AGENT, Decimal(200)))


async def start(stores: Stores, name: str, *, policy: ExecutionPolicy = POLICY, now: datetime = NOW) -> Execution:
    """Return an execution of the same task that is opened `now`, with 100 credits reserved."""
    conversation = CONVERSATION if any(cap.kind is CapKind.CONVERSATION for cap in policy.caps) else ""
    await put(stores.tasks, stores.executions, replace(EXECUTION, id=name, person="pat", conversation=conversation))
    claim_execution, _ = await stores.executions.claim(name, slice=0, holder="h", now=now, lease=LEASE)
    execution = replace(claim_execution, policy=policy)
    await stores.executions.open(execution, OPENING, entry=ledger.record_reservation(execution, Decimal(100), at=now), now=now)
    return replace(execution, credits_reserved=Decimal(100))


async def spend(stores: Stores, name: str, *, used: Decimal, policy: ExecutionPolicy = POLICY) -> None:
    """Return an execution of the same task that has ended, with `used` of its 100 credits spent."""
    execution = replace(await start(stores, name, policy=policy), credits_used=used)
    entry = ledger.record_release(execution, tokens=used, rest=100 - used, at=NOW)
    await stores.executions.finish(execution, replace(DONE, entry=entry), now=NOW)


async def test_what_was_asked_of_the_model_is_held_before_it_is_asked(stores: Stores) -> None:
    execution = replace(await open_execution(stores), pending_model_calls=1, credits_held=Decimal("7.25"))
    after = await stores.executions.ask(execution, now=LATER, lease=LEASE)
    assert after == replace(execution, lease=Lease(holder="h", epoch=1, expires_at=LATER + LEASE))
    assert await read_execution(stores) == after


async def test_nothing_is_held_for_an_execution_that_was_cancelled(stores: Stores) -> None:
    execution = await open_execution(stores)
    await stores.executions.cancel("exec_1", by=OWNER, now=LATER)
    assert (await stores.executions.ask(replace(execution, pending_model_calls=1), now=LATER, lease=LEASE)).cancel_requested
    assert (await read_execution(stores)).pending_model_calls == 0


async def test_the_end_is_recorded_and_the_reservation_settled(stores: Stores) -> None:
    execution = apply_turn(await open_execution(stores))
    rest = Decimal(100) - execution.credits_used
    entry = ledger.record_release(execution, tokens=execution.credits_used, rest=rest, at=LATER)
    await stores.executions.finish(execution, replace(DONE, entry=entry), now=LATER)
    assert await read_execution(stores) == replace(
        execution, status=Status.COMPLETED, output="done", completed_at=LATER, lease=None
    )
    used = CreditPart(credits_used=Decimal("0.125"))
    assert await stores.ledger.balance("owner:ann") == CreditBalance(
        id="owner:ann", month="2026-11", credits_used=Decimal("0.125"), parts=dict.fromkeys(list_parts(execution), used)
    )
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
    entry = ledger.record_release(old, tokens=Decimal(7), rest=Decimal(93), at=NOW)
    await stores.executions.finish(replace(old, credits_used=Decimal(7)), replace(DONE, entry=entry), now=NOW)
    balance = await stores.ledger.balance("owner:ann")
    assert (balance.month, balance.credits_used, balance.credits_reserved) == ("2026-12", Decimal(7), Decimal(100))
