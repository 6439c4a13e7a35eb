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

from .conftest import Doors
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
    counted,
    put,
    receipts,
    turn,
)

DONE = ExecutionEnding(status=Status.COMPLETED, output="done")


async def claimed(doors: Doors) -> Execution:
    await put(doors.tasks, doors.executions, EXECUTION)
    execution, taken = await doors.executions.claim("exec_1", slice=0, holder="h", now=NOW, lease=LEASE)
    assert taken
    return execution


async def opened(doors: Doors) -> Execution:
    await doors.owners.put(OWNER)
    await doors.tasks.create(TASK)
    execution = replace(await claimed(doors), policy=POLICY, events=1)
    await doors.executions.open(execution, OPENING, entry=ENTRY, now=NOW)
    return replace(execution, credits_reserved=Decimal(100))


async def stored(doors: Doors) -> Execution:
    execution = await doors.executions.get("exec_1")
    assert execution is not None
    return execution


async def test_an_execution_comes_back_as_it_was_created(doors: Doors) -> None:
    assert await doors.executions.get("exec_1") is None
    await put(doors.tasks, doors.executions, EXECUTION)
    assert await doors.executions.get("exec_1") == EXECUTION


async def test_executions_are_listed_newest_first_and_no_more_than_asked(doors: Doors) -> None:
    for number, (owner, task) in enumerate([("ann", "task_1"), ("bob", "task_3"), ("ann", "task_2"), ("ann", "task_1")]):
        moment = NOW + timedelta(seconds=number)
        await put(
            doors.tasks, doors.executions, replace(EXECUTION, id=f"exec_{number}", owner=owner, task=task, created_at=moment)
        )

    async def ids(task: str | None = None, most: int = 50) -> list[str]:
        return [each.id for each in await doors.executions.list("ann", task=task, most=most)]

    assert await ids() == ["exec_3", "exec_2", "exec_0"]
    assert await ids(most=2) == ["exec_3", "exec_2"]
    assert await ids(task="task_1") == ["exec_3", "exec_0"]
    assert await ids(task="task_3") == []


async def test_a_queued_execution_is_claimed_once(doors: Doors) -> None:
    first = await claimed(doors)
    assert first == replace(
        EXECUTION, status=Status.RUNNING, started_at=NOW, lease=Lease(holder="h", epoch=1, expires_at=NOW + LEASE)
    )
    assert await doors.executions.claim("exec_1", slice=0, holder="i", now=LATER, lease=LEASE) == (first, False)
    assert await stored(doors) == first


async def test_a_lease_that_has_run_out_passes_on_with_the_next_epoch(doors: Doors) -> None:
    await claimed(doors)
    second, taken = await doors.executions.claim("exec_1", slice=0, holder="i", now=TOO_LATE, lease=LEASE)
    assert taken
    assert second.lease == Lease(holder="i", epoch=2, expires_at=TOO_LATE + LEASE)
    assert second.started_at == NOW


async def test_what_does_not_exist_is_not_claimed(doors: Doors) -> None:
    with pytest.raises(KeyError):
        await doors.executions.claim("exec_1", slice=0, holder="h", now=NOW, lease=LEASE)


async def test_what_has_ended_is_not_claimed(doors: Doors) -> None:
    await doors.executions.finish(await opened(doors), DONE, now=LATER)
    execution, taken = await doors.executions.claim("exec_1", slice=0, holder="i", now=TOO_LATE, lease=LEASE)
    assert (execution.status, taken) == (Status.COMPLETED, False)


async def test_opening_keeps_the_policy_and_reserves_the_credits(doors: Doors) -> None:
    execution = await opened(doors)
    assert await stored(doors) == execution
    assert await doors.executions.opening("exec_1") == OPENING
    for balance in ("owner:ann", "task:task_1"):
        assert await doors.ledger.balance(balance) == CreditBalance(id=balance, month="2026-11", credits_reserved=Decimal(100))
    assert list(await doors.ledger.of_execution("exec_1")) == [ENTRY]


@pytest.mark.parametrize(("month", "enough"), [(Decimal(250), True), (Decimal("249.9999"), False)])
@pytest.mark.parametrize("whose", ["plan", "task"])
async def test_no_more_is_reserved_than_the_month_has_left(doors: Doors, whose: str, month: Decimal, enough: bool) -> None:
    plan = replace(POLICY.plan, credits_per_month=month if whose == "plan" else Decimal(10_000))
    policy = replace(POLICY, plan=plan, credits_per_month=month if whose == "task" else None)
    await spend(doors, "exec_0", used=Decimal(50))  # and what the next one holds makes 150
    await start(doors, "exec_2", policy=policy)
    before = await doors.ledger.balance("owner:ann")
    if enough:
        await start(doors, "exec_3", policy=policy)
        return
    with pytest.raises(InsufficientCreditsError):
        await start(doors, "exec_3", policy=policy)
    assert await doors.ledger.balance("owner:ann") == before
    assert (await doors.executions.opening("exec_3"), list(await doors.ledger.of_execution("exec_3"))) == (None, [])


async def test_a_new_month_starts_with_nothing_used_and_what_runs_still_reserved(doors: Doors) -> None:
    await spend(doors, "exec_0", used=Decimal(50))
    await start(doors, "exec_2")
    await start(doors, "exec_3", now=NOW + timedelta(days=30))
    assert await doors.ledger.balance("owner:ann") == CreditBalance(
        id="owner:ann", month="2026-12", credits_reserved=Decimal(200)
    )


async def start(doors: Doors, name: str, *, policy: ExecutionPolicy = POLICY, now: datetime = NOW) -> Execution:
    """An execution of the same task that is opened `now`, with 100 credits reserved."""
    await put(doors.tasks, doors.executions, replace(EXECUTION, id=name))
    taken, _ = await doors.executions.claim(name, slice=0, holder="h", now=now, lease=LEASE)
    execution = replace(taken, policy=policy)
    await doors.executions.open(execution, OPENING, entry=ledger.record_reservation(execution, Decimal(100), at=now), now=now)
    return replace(execution, credits_reserved=Decimal(100))


async def spend(doors: Doors, name: str, *, used: Decimal) -> None:
    """An execution of the same task that has ended, with `used` of its 100 credits spent."""
    execution = replace(await start(doors, name), credits_used=used)
    entry = ledger.record_release(execution, tokens=used, fees=Decimal(0), rest=100 - used, at=NOW)
    await doors.executions.finish(execution, replace(DONE, entry=entry), now=NOW)


async def test_what_was_asked_of_the_model_is_held_before_it_is_asked(doors: Doors) -> None:
    execution = replace(await opened(doors), pending_model_calls=1, credits_held=Decimal("7.25"))
    after = await doors.executions.ask(execution, now=LATER, lease=LEASE)
    assert after == replace(execution, lease=Lease(holder="h", epoch=1, expires_at=LATER + LEASE))
    assert await stored(doors) == after


async def test_nothing_is_held_for_an_execution_that_was_cancelled(doors: Doors) -> None:
    execution = await opened(doors)
    await doors.executions.cancel("exec_1", now=LATER)
    assert (await doors.executions.ask(replace(execution, pending_model_calls=1), now=LATER, lease=LEASE)).cancel_requested
    assert (await stored(doors)).pending_model_calls == 0


@pytest.mark.parametrize("whose", [None, "ann"])
async def test_a_kill_switch_stops_the_next_model_call_and_the_next_beat(doors: Doors, whose: str | None) -> None:
    execution = await opened(doors)
    await doors.halts.put(whose, on=True, now=NOW)
    for write in (doors.executions.ask, doors.executions.renew):
        with pytest.raises(HaltedError):
            await write(execution, now=LATER, lease=LEASE)
    await doors.halts.put(whose, on=False, now=NOW - timedelta(days=1))  # before the execution was created
    await doors.executions.ask(execution, now=LATER, lease=LEASE)


@pytest.mark.parametrize("whose", [None, "ann"])
async def test_a_kill_switch_that_was_let_go_still_stops_what_was_there_before(doors: Doors, whose: str | None) -> None:
    execution = await opened(doors)
    await doors.halts.put(whose, on=True, now=NOW)
    await doors.halts.put(whose, on=False, now=LATER)
    assert await doors.halts.find_halt_reason("ann") is None
    assert await doors.halts.find_halt_reason("ann", created=LATER + timedelta(seconds=1)) is None
    with pytest.raises(HaltedError):
        await doors.executions.ask(execution, now=LATER, lease=LEASE)


@pytest.mark.parametrize("fact", ["disabled", "deleted"])
async def test_a_task_that_is_disabled_or_deleted_stops_the_next_model_call(doors: Doors, fact: str) -> None:
    execution = await opened(doors)
    if fact == "disabled":
        await doors.tasks.update(replace(TASK, enabled=False), ["enabled"], since=TASK.updated_at)
    else:
        await doors.tasks.delete("task_1")
    with pytest.raises(TaskDisabledError):
        await doors.executions.ask(execution, now=LATER, lease=LEASE)


async def test_the_next_slice_alone_may_go_on_with_what_was_handed_over(doors: Doors) -> None:
    execution = replace(await opened(doors), pending_model_calls=1, credits_held=Decimal(3))
    assert await doors.executions.hand_over(execution, now=LATER) == 1
    before = await stored(doors)
    assert (before.slice, before.pending_model_calls, before.credits_held) == (1, 1, Decimal(3))
    assert await doors.executions.claim("exec_1", slice=0, holder="i", now=LATER, lease=LEASE) == (before, False)
    after, taken = await doors.executions.claim("exec_1", slice=1, holder="i", now=LATER, lease=LEASE)
    assert (after.epoch, taken) == (2, True)


async def test_a_turn_is_kept_with_its_calls_and_renews_the_lease(doors: Doors) -> None:
    execution = counted(await opened(doors))
    after = await doors.executions.commit(execution, turn(), now=LATER, lease=LEASE)
    assert after == replace(execution, lease=Lease(holder="h", epoch=1, expires_at=LATER + LEASE))
    assert await stored(doors) == after
    assert list(await doors.executions.steps("exec_1")) == [turn().step]
    assert list(await doors.executions.tickets("exec_1")) == list(turn().tickets)


async def test_steps_and_calls_are_read_from_where_one_asks(doors: Doors) -> None:
    execution = await opened(doors)
    for number in (1, 2, 3):
        execution = await doors.executions.commit(execution, turn(number, first=2 * (number - 1)), now=LATER, lease=LEASE)
    assert [step.number for step in await doors.executions.steps("exec_1", after=1)] == [2, 3]
    assert [ticket.seq for ticket in await doors.executions.tickets("exec_1", first=3)] == [3, 4, 5]


async def test_a_turn_does_not_undo_a_cancel(doors: Doors) -> None:
    execution = await opened(doors)
    await doors.executions.cancel("exec_1", now=LATER)
    await doors.executions.commit(counted(execution), turn(), now=LATER, lease=LEASE)
    assert (await stored(doors)).cancel_requested


async def test_renewing_moves_the_end_and_tells_of_a_cancel(doors: Doors) -> None:
    execution = await opened(doors)
    await doors.executions.cancel("exec_1", now=LATER)
    after = await doors.executions.renew(execution, now=LATER, lease=LEASE)
    assert after == replace(execution, cancel_requested=True, lease=Lease(holder="h", epoch=1, expires_at=LATER + LEASE))
    assert await stored(doors) == after


async def test_a_lease_that_is_given_up_can_be_taken_at_once(doors: Doors) -> None:
    execution = await opened(doors)
    await doors.executions.give_up(execution, now=LATER)
    _, taken = await doors.executions.claim("exec_1", slice=0, holder="i", now=LATER, lease=LEASE)
    assert taken


async def test_a_call_is_settled_by_the_holder(doors: Doors) -> None:
    execution = await doors.executions.commit(await opened(doors), turn(), now=NOW, lease=LEASE)
    await doors.executions.settle(execution, 1, RESULT, now=LATER)
    first, second = await doors.executions.tickets("exec_1")
    assert first == turn().tickets[0]
    assert second == replace(turn().tickets[1], state=TicketState.SETTLED, settled_at=LATER, result=RESULT)


async def test_what_a_tool_answered_meanwhile_holds_against_the_holders_own_word(doors: Doors) -> None:
    execution = await doors.executions.commit(await opened(doors), turn(), now=NOW, lease=LEASE)
    first = await doors.executions.settle(execution, 1, RESULT, now=NOW)
    again = await doors.executions.settle(execution, 1, replace(RESULT, content="in doubt"), now=LATER, in_doubt=True)
    assert (first.result, first.settled_at, again) == (RESULT, NOW, first)
    assert await doors.executions.tickets("exec_1", first=1) == [first]


async def test_the_next_holder_finds_the_unfinished_calls_under_its_own_epoch(doors: Doors) -> None:
    execution = await doors.executions.commit(await opened(doors), turn(), now=NOW, lease=LEASE)
    await doors.executions.settle(execution, 0, RESULT, now=NOW)
    await doors.executions.claim("exec_1", slice=0, holder="i", now=TOO_LATE, lease=LEASE)
    assert [ticket.epoch for ticket in await doors.executions.tickets("exec_1")] == [1, 2]


async def test_the_end_is_recorded_and_the_reservation_settled(doors: Doors) -> None:
    execution = counted(await opened(doors))
    rest = Decimal(100) - execution.credits_used
    entry = ledger.record_release(execution, tokens=execution.credits_used, fees=Decimal(0), rest=rest, at=LATER)
    await doors.executions.finish(execution, replace(DONE, entry=entry), now=LATER)
    assert await stored(doors) == replace(execution, status=Status.COMPLETED, output="done", completed_at=LATER, lease=None)
    for balance in ("owner:ann", "task:task_1"):
        assert await doors.ledger.balance(balance) == CreditBalance(id=balance, month="2026-11", credits_used=Decimal("0.125"))
    entries = await doors.ledger.of_execution("exec_1")
    assert ledger.sum_accounts(entries) == {
        "owner:ann": Decimal("-0.125"),
        "execution:exec_1": 0,
        "llm_tokens": Decimal("0.125"),
    }
    month = await doors.ledger.of_owner("ann", since=NOW, until=LATER)
    assert list(month) == [ENTRY]


@pytest.mark.parametrize("late", ["epoch", "time", "ended"])
@pytest.mark.parametrize("write", ["open", "ask", "commit", "renew", "settle", "give_up", "hand_over", "finish"])
async def test_no_write_is_taken_from_who_no_longer_holds_the_lease(doors: Doors, write: str, late: str) -> None:
    execution = await doors.executions.commit(await opened(doors), turn(), now=NOW, lease=LEASE)
    now = LATER
    if late == "epoch":
        await doors.executions.claim("exec_1", slice=0, holder="i", now=TOO_LATE, lease=LEASE)
    elif late == "time":
        now = TOO_LATE
    else:
        await doors.executions.finish(execution, DONE, now=LATER)
    before = (await stored(doors), await doors.ledger.balance("owner:ann"), list(await doors.executions.tickets("exec_1")))
    writes: dict[str, Callable[[], Awaitable[object]]] = {
        "open": lambda: doors.executions.open(execution, OPENING, entry=ENTRY, now=now),
        "ask": lambda: doors.executions.ask(execution, now=now, lease=LEASE),
        "give_up": lambda: doors.executions.give_up(execution, now=now),
        "hand_over": lambda: doors.executions.hand_over(execution, now=now),
        "commit": lambda: doors.executions.commit(execution, turn(2, first=2), now=now, lease=LEASE),
        "renew": lambda: doors.executions.renew(execution, now=now, lease=LEASE),
        "settle": lambda: doors.executions.settle(execution, 0, RESULT, now=now),
        "finish": lambda: doors.executions.finish(execution, DONE, now=now),
    }
    with pytest.raises(StaleError):
        await writes[write]()
    tickets = list(await doors.executions.tickets("exec_1"))
    assert before == (await stored(doors), await doors.ledger.balance("owner:ann"), tickets)
    assert len(await doors.executions.steps("exec_1")) == 1


async def test_a_queued_execution_that_is_cancelled_is_over(doors: Doors) -> None:
    await put(doors.tasks, doors.executions, EXECUTION)
    over = replace(
        EXECUTION, status=Status.KILLED, cancel_requested=True, error="cancelled before it started", completed_at=LATER
    )
    assert await doors.executions.cancel("exec_1", now=LATER) == over
    assert await stored(doors) == over
    assert await doors.executions.cancel("exec_1", now=TOO_LATE) == over


async def test_a_running_execution_that_is_cancelled_is_flagged(doors: Doors) -> None:
    execution = await claimed(doors)
    assert await doors.executions.cancel("exec_1", now=LATER) == replace(execution, cancel_requested=True)


async def test_what_does_not_exist_is_not_cancelled(doors: Doors) -> None:
    assert await doors.executions.cancel("exec_1", now=NOW) is None


async def test_of_many_who_claim_at_once_one_gets_it(doors: Doors) -> None:
    await put(doors.tasks, doors.executions, EXECUTION)
    claims = (doors.executions.claim("exec_1", slice=0, holder=str(each), now=NOW, lease=LEASE) for each in range(8))
    assert [taken for _, taken in await asyncio.gather(*claims)].count(True) == 1
    lease = (await stored(doors)).lease
    assert lease is not None
    assert lease.epoch == 1


async def test_what_is_reserved_at_once_is_all_counted(doors: Doors) -> None:
    await asyncio.gather(*(start(doors, f"exec_{number}") for number in range(6)))
    assert (await doors.ledger.balance("owner:ann")).credits_reserved == 600


async def test_receipts_stand_with_the_commits_that_made_them_and_come_back_in_order(doors: Doors) -> None:
    await doors.owners.put(OWNER)
    await doors.tasks.create(TASK)
    execution = replace(await claimed(doors), policy=POLICY, events=1)
    first, head = receipts(Head(), ReceiptKind.OPENED)
    await doors.executions.open(replace(execution, receipts=head), OPENING, entry=ENTRY, receipts=first, now=NOW)
    assert (await stored(doors)).receipts == head
    second, head = receipts(head, *[ReceiptKind.PLANNED] * 11)
    held = replace(execution, receipts=head, credits_reserved=Decimal(100))
    held = await doors.executions.commit(held, replace(turn(), receipts=second), now=NOW, lease=LEASE)
    assert ((await stored(doors)).receipts, held.receipts) == (head, head)
    third, head = receipts(head, ReceiptKind.SETTLED, ReceiptKind.CLOSED)
    await doors.executions.finish(replace(held, receipts=head), replace(DONE, receipts=third), now=LATER)
    assert (await stored(doors)).receipts == head
    assert await doors.executions.receipts("exec_1") == [*first, *second, *third]
    assert await doors.executions.receipts("exec_2") == []


async def test_a_holder_whose_time_is_over_adds_no_receipts(doors: Doors) -> None:
    execution = await opened(doors)
    made, head = receipts(Head(), ReceiptKind.OPENED)
    late = replace(execution, receipts=head)
    with pytest.raises(StaleError):
        await doors.executions.commit(late, replace(turn(), receipts=made), now=TOO_LATE, lease=LEASE)
    with pytest.raises(StaleError):
        await doors.executions.finish(late, replace(DONE, receipts=made), now=TOO_LATE)
    assert await doors.executions.receipts("exec_1") == []
    assert (await stored(doors)).receipts == Head()


async def test_an_end_that_knows_of_no_cancel_is_not_stored_over_one(doors: Doors) -> None:
    execution = await opened(doors)
    await doors.executions.cancel("exec_1", now=NOW)
    assert not await doors.executions.finish(execution, DONE, now=NOW)
    assert (await stored(doors)).status is Status.RUNNING
    assert await doors.executions.finish(replace(execution, cancel_requested=True), DONE, now=NOW)
    assert ((await stored(doors)).status, (await stored(doors)).cancel_requested) == (DONE.status, True)


async def test_a_month_never_runs_backwards(doors: Doors) -> None:
    old = await start(doors, "exec_1", now=NOW)
    late = NOW + timedelta(days=30)
    await start(doors, "exec_2", now=late)
    entry = ledger.record_release(old, tokens=Decimal(7), fees=Decimal(0), rest=Decimal(93), at=NOW)
    await doors.executions.finish(replace(old, credits_used=Decimal(7)), replace(DONE, entry=entry), now=NOW)
    balance = await doors.ledger.balance("owner:ann")
    assert (balance.month, balance.credits_used, balance.credits_reserved) == ("2026-12", Decimal(7), Decimal(100))
