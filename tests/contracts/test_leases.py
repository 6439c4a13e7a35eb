"""Leases of executions: claimed by one, and fenced by the epoch."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from decimal import Decimal

import pytest

from ferryman.domain.executions.execution import OWNER, Lease, ModelTrouble, Status
from ferryman.domain.stale import StaleError

from .conftest import Stores
from .values import (
    DONE,
    ENTRY,
    EXECUTION,
    LATER,
    LEASE,
    NOW,
    OPENING,
    RESULT,
    TOO_LATE,
    claim_execution,
    open_execution,
    put,
    read_execution,
    turn,
)


async def test_a_queued_execution_is_claimed_once(stores: Stores) -> None:
    first = await claim_execution(stores)
    assert first == replace(
        EXECUTION, status=Status.RUNNING, started_at=NOW, lease=Lease(holder="h", epoch=1, expires_at=NOW + LEASE)
    )
    assert await stores.executions.claim("exec_1", slice=0, holder="i", now=LATER, lease=LEASE) == (first, False)
    assert await read_execution(stores) == first


async def test_a_lease_that_has_run_out_passes_on_with_the_next_epoch(stores: Stores) -> None:
    await claim_execution(stores)
    second, is_claimed = await stores.executions.claim("exec_1", slice=0, holder="i", now=TOO_LATE, lease=LEASE)
    assert is_claimed
    assert second.lease == Lease(holder="i", epoch=2, expires_at=TOO_LATE + LEASE)
    assert second.started_at == NOW


async def test_what_does_not_exist_is_not_claimed(stores: Stores) -> None:
    with pytest.raises(KeyError):
        await stores.executions.claim("exec_1", slice=0, holder="h", now=NOW, lease=LEASE)


async def test_what_has_ended_is_not_claimed(stores: Stores) -> None:
    await stores.executions.finish(await open_execution(stores), DONE, now=LATER)
    execution, is_claimed = await stores.executions.claim("exec_1", slice=0, holder="i", now=TOO_LATE, lease=LEASE)
    assert (execution.status, is_claimed) == (Status.COMPLETED, False)


async def test_the_next_slice_alone_may_go_on_with_what_was_handed_over(stores: Stores) -> None:
    execution = replace(await open_execution(stores), pending_model_calls=1, credits_held=Decimal(3))
    assert await stores.executions.hand_over(execution, now=LATER) == 1
    before = await read_execution(stores)
    assert (before.slice, before.pending_model_calls, before.credits_held) == (1, 1, Decimal(3))
    assert await stores.executions.claim("exec_1", slice=0, holder="i", now=LATER, lease=LEASE) == (before, False)
    after, is_claimed = await stores.executions.claim("exec_1", slice=1, holder="i", now=LATER, lease=LEASE)
    assert (after.epoch, is_claimed) == (2, True)


async def test_why_the_model_does_not_answer_is_kept_until_a_turn_is_committed(stores: Stores) -> None:
    trouble = ModelTrouble(attempts=3, unreached=2, cause="it refused the connection")
    execution = replace(await open_execution(stores), model_trouble=trouble)
    await stores.executions.give_up(execution, now=LATER)
    assert (await read_execution(stores)).model_trouble == trouble


async def test_renewing_moves_the_end_and_tells_of_a_cancel(stores: Stores) -> None:
    execution = await open_execution(stores)
    await stores.executions.cancel("exec_1", by=OWNER, now=LATER)
    after = await stores.executions.renew(execution, now=LATER, lease=LEASE)
    assert after == replace(execution, cancel_requested=True, lease=Lease(holder="h", epoch=1, expires_at=LATER + LEASE))
    assert await read_execution(stores) == replace(after, cancelled_by=OWNER)


async def test_a_lease_that_is_given_up_can_be_taken_at_once(stores: Stores) -> None:
    execution = await open_execution(stores)
    await stores.executions.give_up(execution, now=LATER)
    _, is_claimed = await stores.executions.claim("exec_1", slice=0, holder="i", now=LATER, lease=LEASE)
    assert is_claimed


async def test_the_next_holder_finds_the_unfinished_calls_under_its_own_epoch(stores: Stores) -> None:
    execution = await stores.executions.commit(await open_execution(stores), turn(), now=NOW, lease=LEASE)
    await stores.executions.settle(execution, 0, RESULT, now=NOW)
    await stores.executions.claim("exec_1", slice=0, holder="i", now=TOO_LATE, lease=LEASE)
    assert [ticket.epoch for ticket in await stores.executions.tickets("exec_1")] == [1, 2]


@pytest.mark.parametrize("late", ["epoch", "time", "ended"])
@pytest.mark.parametrize(
    "write", ["open", "check", "ask", "commit", "checked commit", "renew", "settle", "give_up", "hand_over", "finish"]
)
async def test_no_write_is_taken_from_who_no_longer_holds_the_lease(stores: Stores, write: str, late: str) -> None:
    execution = await stores.executions.commit(await open_execution(stores), turn(), now=NOW, lease=LEASE)
    now = LATER
    if write == "checked commit":
        await stores.executions.check(execution, now=NOW)
    if late == "epoch":
        await stores.executions.claim("exec_1", slice=0, holder="i", now=TOO_LATE, lease=LEASE)
    elif late == "time":
        now = TOO_LATE
    else:
        await stores.executions.finish(execution, DONE, now=LATER)
    before = (
        await read_execution(stores),
        await stores.ledger.balance("owner:ann"),
        list(await stores.executions.tickets("exec_1")),
    )
    writes: dict[str, Callable[[], Awaitable[object]]] = {
        "open": lambda: stores.executions.open(execution, OPENING, entry=ENTRY, now=now),
        "check": lambda: stores.executions.check(execution, now=now),
        "ask": lambda: stores.executions.ask(execution, now=now, lease=LEASE),
        "give_up": lambda: stores.executions.give_up(execution, now=now),
        "hand_over": lambda: stores.executions.hand_over(execution, now=now),
        "commit": lambda: stores.executions.commit(execution, turn(2, first=2), now=now, lease=LEASE),
        "renew": lambda: stores.executions.renew(execution, now=now, lease=LEASE),
        "settle": lambda: stores.executions.settle(execution, 0, RESULT, now=now),
        "finish": lambda: stores.executions.finish(execution, DONE, now=now),
    }
    with pytest.raises(StaleError):
        await writes[write.removeprefix("checked ")]()
    tickets = list(await stores.executions.tickets("exec_1"))
    assert before == (await read_execution(stores), await stores.ledger.balance("owner:ann"), tickets)
    assert len(await stores.executions.steps("exec_1")) == 1


async def test_of_many_who_claim_at_once_one_gets_it(stores: Stores) -> None:
    await put(stores.tasks, stores.executions, EXECUTION)
    claims = (stores.executions.claim("exec_1", slice=0, holder=str(number), now=NOW, lease=LEASE) for number in range(8))
    assert [is_claimed for _, is_claimed in await asyncio.gather(*claims)].count(True) == 1
    lease = (await read_execution(stores)).lease
    assert lease is not None
    assert lease.epoch == 1
