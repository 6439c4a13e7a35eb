"""Executions: claimed by one, fenced by the epoch, reserved once, settled at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from ferryman.domain.calls.call import TicketState
from ferryman.domain.credits import ledger
from ferryman.domain.credits.balance import CreditBalance, InsufficientCreditsError
from ferryman.domain.executions.execution import Execution, Lease, Status
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.receipts.receipt import Head, ReceiptKind
from ferryman.domain.stale import StaleError
from ferryman.ports.errors import HaltedError, TaskDisabledError
from ferryman.ports.executions import ExecutionEnding

from .conftest import Stores
from .values import (
    ENTRY,
    EXECUTION,
    LATER,
    LEASE,
    NOW,
    OPENING,
    OWNER,
    POLICY,
    RESULT,
    TASK,
    TOO_LATE,
    apply_turn,
    put,
    receipts,
    turn,
)

DONE = ExecutionEnding(status=Status.COMPLETED, output="done")


async def claim_execution(stores: Stores) -> Execution:
    await put(stores.tasks, stores.executions, EXECUTION)
    execution, is_claimed = await stores.executions.claim("exec_1", slice=0, holder="h", now=NOW, lease=LEASE)
    assert is_claimed
    return execution


async def open_execution(stores: Stores) -> Execution:
    await stores.owners.put(OWNER)
    await stores.tasks.create(TASK)
    execution = replace(await claim_execution(stores), policy=POLICY, events=1)
    await stores.executions.open(execution, OPENING, entry=ENTRY, now=NOW)
    return replace(execution, credits_reserved=Decimal(100))


async def read_execution(stores: Stores) -> Execution:
    execution = await stores.executions.get("exec_1")
    assert execution is not None
    return execution


async def test_an_execution_comes_back_as_it_was_created(stores: Stores) -> None:
    assert await stores.executions.get("exec_1") is None
    await put(stores.tasks, stores.executions, EXECUTION)
    assert await stores.executions.get("exec_1") == EXECUTION


async def test_executions_are_listed_newest_first_and_no_more_than_asked(stores: Stores) -> None:
    for number, (owner, task) in enumerate([("ann", "task_1"), ("bob", "task_3"), ("ann", "task_2"), ("ann", "task_1")]):
        moment = NOW + timedelta(seconds=number)
        await put(
            stores.tasks, stores.executions, replace(EXECUTION, id=f"exec_{number}", owner=owner, task=task, created_at=moment)
        )

    async def ids(task: str | None = None, most: int = 50) -> list[str]:
        return [execution.id for execution in await stores.executions.list("ann", task=task, most=most)]

    assert await ids() == ["exec_3", "exec_2", "exec_0"]
    assert await ids(most=2) == ["exec_3", "exec_2"]
    assert await ids(task="task_1") == ["exec_3", "exec_0"]
    assert await ids(task="task_3") == []


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


@pytest.mark.parametrize("whose", [None, "ann"])
async def test_a_kill_switch_stops_the_next_model_call_and_the_next_beat(stores: Stores, whose: str | None) -> None:
    execution = await open_execution(stores)
    await stores.halts.put(whose, on=True, now=NOW)
    for write in (stores.executions.ask, stores.executions.renew):
        with pytest.raises(HaltedError):
            await write(execution, now=LATER, lease=LEASE)
    await stores.halts.put(whose, on=False, now=NOW - timedelta(days=1))  # before the execution was created
    await stores.executions.ask(execution, now=LATER, lease=LEASE)


@pytest.mark.parametrize("whose", [None, "ann"])
async def test_a_kill_switch_that_was_let_go_still_stops_what_was_there_before(stores: Stores, whose: str | None) -> None:
    execution = await open_execution(stores)
    await stores.halts.put(whose, on=True, now=NOW)
    await stores.halts.put(whose, on=False, now=LATER)
    assert await stores.halts.find_halt_reason("ann") is None
    assert await stores.halts.find_halt_reason("ann", created=LATER + timedelta(seconds=1)) is None
    with pytest.raises(HaltedError):
        await stores.executions.ask(execution, now=LATER, lease=LEASE)


@pytest.mark.parametrize("fact", ["disabled", "deleted"])
async def test_a_task_that_is_disabled_or_deleted_stops_the_next_model_call(stores: Stores, fact: str) -> None:
    execution = await open_execution(stores)
    if fact == "disabled":
        await stores.tasks.update(replace(TASK, enabled=False), ["enabled"], since=TASK.updated_at)
    else:
        await stores.tasks.delete("task_1")
    with pytest.raises(TaskDisabledError):
        await stores.executions.ask(execution, now=LATER, lease=LEASE)


async def test_the_next_slice_alone_may_go_on_with_what_was_handed_over(stores: Stores) -> None:
    execution = replace(await open_execution(stores), pending_model_calls=1, credits_held=Decimal(3))
    assert await stores.executions.hand_over(execution, now=LATER) == 1
    before = await read_execution(stores)
    assert (before.slice, before.pending_model_calls, before.credits_held) == (1, 1, Decimal(3))
    assert await stores.executions.claim("exec_1", slice=0, holder="i", now=LATER, lease=LEASE) == (before, False)
    after, is_claimed = await stores.executions.claim("exec_1", slice=1, holder="i", now=LATER, lease=LEASE)
    assert (after.epoch, is_claimed) == (2, True)


async def test_a_turn_is_kept_with_its_calls_and_renews_the_lease(stores: Stores) -> None:
    execution = apply_turn(await open_execution(stores))
    after = await stores.executions.commit(execution, turn(), now=LATER, lease=LEASE)
    assert after == replace(execution, lease=Lease(holder="h", epoch=1, expires_at=LATER + LEASE))
    assert await read_execution(stores) == after
    assert list(await stores.executions.steps("exec_1")) == [turn().step]
    assert list(await stores.executions.tickets("exec_1")) == list(turn().tickets)


async def test_steps_and_calls_are_read_from_where_one_asks(stores: Stores) -> None:
    execution = await open_execution(stores)
    for number in (1, 2, 3):
        execution = await stores.executions.commit(execution, turn(number, first=2 * (number - 1)), now=LATER, lease=LEASE)
    assert [step.number for step in await stores.executions.steps("exec_1", after=1)] == [2, 3]
    assert [ticket.seq for ticket in await stores.executions.tickets("exec_1", first=3)] == [3, 4, 5]


async def test_a_turn_does_not_undo_a_cancel(stores: Stores) -> None:
    execution = await open_execution(stores)
    await stores.executions.cancel("exec_1", now=LATER)
    await stores.executions.commit(apply_turn(execution), turn(), now=LATER, lease=LEASE)
    assert (await read_execution(stores)).cancel_requested


async def test_renewing_moves_the_end_and_tells_of_a_cancel(stores: Stores) -> None:
    execution = await open_execution(stores)
    await stores.executions.cancel("exec_1", now=LATER)
    after = await stores.executions.renew(execution, now=LATER, lease=LEASE)
    assert after == replace(execution, cancel_requested=True, lease=Lease(holder="h", epoch=1, expires_at=LATER + LEASE))
    assert await read_execution(stores) == after


async def test_a_lease_that_is_given_up_can_be_taken_at_once(stores: Stores) -> None:
    execution = await open_execution(stores)
    await stores.executions.give_up(execution, now=LATER)
    _, is_claimed = await stores.executions.claim("exec_1", slice=0, holder="i", now=LATER, lease=LEASE)
    assert is_claimed


async def test_a_call_is_settled_by_the_holder(stores: Stores) -> None:
    execution = await stores.executions.commit(await open_execution(stores), turn(), now=NOW, lease=LEASE)
    await stores.executions.settle(execution, 1, RESULT, now=LATER)
    first, second = await stores.executions.tickets("exec_1")
    assert first == turn().tickets[0]
    assert second == replace(turn().tickets[1], state=TicketState.SETTLED, settled_at=LATER, result=RESULT)


async def test_what_a_tool_answered_meanwhile_holds_against_the_holders_own_word(stores: Stores) -> None:
    execution = await stores.executions.commit(await open_execution(stores), turn(), now=NOW, lease=LEASE)
    first = await stores.executions.settle(execution, 1, RESULT, now=NOW)
    again = await stores.executions.settle(execution, 1, replace(RESULT, content="in doubt"), now=LATER, in_doubt=True)
    assert (first.result, first.settled_at, again) == (RESULT, NOW, first)
    assert await stores.executions.tickets("exec_1", first=1) == [first]


async def test_the_next_holder_finds_the_unfinished_calls_under_its_own_epoch(stores: Stores) -> None:
    execution = await stores.executions.commit(await open_execution(stores), turn(), now=NOW, lease=LEASE)
    await stores.executions.settle(execution, 0, RESULT, now=NOW)
    await stores.executions.claim("exec_1", slice=0, holder="i", now=TOO_LATE, lease=LEASE)
    assert [ticket.epoch for ticket in await stores.executions.tickets("exec_1")] == [1, 2]


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


@pytest.mark.parametrize("late", ["epoch", "time", "ended"])
@pytest.mark.parametrize("write", ["open", "ask", "commit", "renew", "settle", "give_up", "hand_over", "finish"])
async def test_no_write_is_taken_from_who_no_longer_holds_the_lease(stores: Stores, write: str, late: str) -> None:
    execution = await stores.executions.commit(await open_execution(stores), turn(), now=NOW, lease=LEASE)
    now = LATER
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
        "ask": lambda: stores.executions.ask(execution, now=now, lease=LEASE),
        "give_up": lambda: stores.executions.give_up(execution, now=now),
        "hand_over": lambda: stores.executions.hand_over(execution, now=now),
        "commit": lambda: stores.executions.commit(execution, turn(2, first=2), now=now, lease=LEASE),
        "renew": lambda: stores.executions.renew(execution, now=now, lease=LEASE),
        "settle": lambda: stores.executions.settle(execution, 0, RESULT, now=now),
        "finish": lambda: stores.executions.finish(execution, DONE, now=now),
    }
    with pytest.raises(StaleError):
        await writes[write]()
    tickets = list(await stores.executions.tickets("exec_1"))
    assert before == (await read_execution(stores), await stores.ledger.balance("owner:ann"), tickets)
    assert len(await stores.executions.steps("exec_1")) == 1


async def test_a_queued_execution_that_is_cancelled_is_over(stores: Stores) -> None:
    await put(stores.tasks, stores.executions, EXECUTION)
    over = replace(
        EXECUTION, status=Status.KILLED, cancel_requested=True, error="cancelled before it started", completed_at=LATER
    )
    assert await stores.executions.cancel("exec_1", now=LATER) == over
    assert await read_execution(stores) == over
    assert await stores.executions.cancel("exec_1", now=TOO_LATE) == over


async def test_a_running_execution_that_is_cancelled_is_flagged(stores: Stores) -> None:
    execution = await claim_execution(stores)
    assert await stores.executions.cancel("exec_1", now=LATER) == replace(execution, cancel_requested=True)


async def test_what_does_not_exist_is_not_cancelled(stores: Stores) -> None:
    assert await stores.executions.cancel("exec_1", now=NOW) is None


async def test_of_many_who_claim_at_once_one_gets_it(stores: Stores) -> None:
    await put(stores.tasks, stores.executions, EXECUTION)
    claims = (stores.executions.claim("exec_1", slice=0, holder=str(number), now=NOW, lease=LEASE) for number in range(8))
    assert [is_claimed for _, is_claimed in await asyncio.gather(*claims)].count(True) == 1
    lease = (await read_execution(stores)).lease
    assert lease is not None
    assert lease.epoch == 1


async def test_what_is_reserved_at_once_is_all_counted(stores: Stores) -> None:
    await asyncio.gather(*(start(stores, f"exec_{number}") for number in range(6)))
    assert (await stores.ledger.balance("owner:ann")).credits_reserved == 600


async def test_receipts_stand_with_the_commits_that_made_them_and_come_back_in_order(stores: Stores) -> None:
    await stores.owners.put(OWNER)
    await stores.tasks.create(TASK)
    execution = replace(await claim_execution(stores), policy=POLICY, events=1)
    first, head = receipts(Head(), ReceiptKind.OPENED)
    await stores.executions.open(replace(execution, receipts=head), OPENING, entry=ENTRY, receipts=first, now=NOW)
    assert (await read_execution(stores)).receipts == head
    second, head = receipts(head, *[ReceiptKind.PLANNED] * 11)
    current = replace(execution, receipts=head, credits_reserved=Decimal(100))
    current = await stores.executions.commit(current, replace(turn(), receipts=second), now=NOW, lease=LEASE)
    assert ((await read_execution(stores)).receipts, current.receipts) == (head, head)
    third, head = receipts(head, ReceiptKind.SETTLED, ReceiptKind.CLOSED)
    await stores.executions.finish(replace(current, receipts=head), replace(DONE, receipts=third), now=LATER)
    assert (await read_execution(stores)).receipts == head
    assert await stores.executions.receipts("exec_1") == [*first, *second, *third]
    assert await stores.executions.receipts("exec_2") == []


async def test_a_holder_whose_time_is_over_adds_no_receipts(stores: Stores) -> None:
    execution = await open_execution(stores)
    planned, head = receipts(Head(), ReceiptKind.OPENED)
    late = replace(execution, receipts=head)
    with pytest.raises(StaleError):
        await stores.executions.commit(late, replace(turn(), receipts=planned), now=TOO_LATE, lease=LEASE)
    with pytest.raises(StaleError):
        await stores.executions.finish(late, replace(DONE, receipts=planned), now=TOO_LATE)
    assert await stores.executions.receipts("exec_1") == []
    assert (await read_execution(stores)).receipts == Head()


async def test_an_end_that_knows_of_no_cancel_is_not_stored_over_one(stores: Stores) -> None:
    execution = await open_execution(stores)
    await stores.executions.cancel("exec_1", now=NOW)
    assert not await stores.executions.finish(execution, DONE, now=NOW)
    assert (await read_execution(stores)).status is Status.RUNNING
    assert await stores.executions.finish(replace(execution, cancel_requested=True), DONE, now=NOW)
    assert ((await read_execution(stores)).status, (await read_execution(stores)).cancel_requested) == (DONE.status, True)


async def test_a_month_never_runs_backwards(stores: Stores) -> None:
    old = await start(stores, "exec_1", now=NOW)
    late = NOW + timedelta(days=30)
    await start(stores, "exec_2", now=late)
    entry = ledger.record_release(old, tokens=Decimal(7), fees=Decimal(0), rest=Decimal(93), at=NOW)
    await stores.executions.finish(replace(old, credits_used=Decimal(7)), replace(DONE, entry=entry), now=NOW)
    balance = await stores.ledger.balance("owner:ann")
    assert (balance.month, balance.credits_used, balance.credits_reserved) == ("2026-12", Decimal(7), Decimal(100))
