"""Executions: their turns, calls and end, and what stops them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from ferryman.domain.calls.brief import to_brief
from ferryman.domain.calls.call import TicketState
from ferryman.domain.executions.execution import OWNER, Lease, Status
from ferryman.domain.executions.halt import BY_OPERATOR, BY_OWNER
from ferryman.domain.receipts.receipt import ReceiptKind
from ferryman.domain.stale import StaleError
from ferryman.ports.errors import HaltedError, TaskDisabledError
from ferryman.ports.executions import Filter

from .conftest import Stores
from .values import (
    DONE,
    EXECUTION,
    LATER,
    LEASE,
    NOW,
    RESULT,
    TASK,
    TOO_LATE,
    apply_turn,
    claim_execution,
    open_execution,
    put,
    read_execution,
    receipts,
    turn,
)


async def test_an_execution_comes_back_as_it_was_created(stores: Stores) -> None:
    assert await stores.executions.get("exec_1") is None
    await put(stores.tasks, stores.executions, EXECUTION)
    assert await stores.executions.get("exec_1") == EXECUTION


async def test_executions_are_listed_newest_first_and_no_more_than_asked(stores: Stores) -> None:
    for number, (workspace, task) in enumerate([("w", "task_1"), ("v", "task_3"), ("w", "task_2"), ("w", "task_1")]):
        moment = NOW + timedelta(seconds=number)
        await put(
            stores.tasks,
            stores.executions,
            replace(EXECUTION, id=f"exec_{number}", workspace=workspace, task=task, created_at=moment),
        )

    async def ids(most: int = 50, **which: Any) -> list[str]:
        return [execution.id for execution in await stores.executions.list("w", which=Filter(**which), most=most)]

    assert await ids() == ["exec_3", "exec_2", "exec_0"]
    assert await ids(most=2) == ["exec_3", "exec_2"]
    assert await ids(task="task_1") == ["exec_3", "exec_0"]
    assert await ids(task="task_3") == []
    assert await ids(since=NOW + timedelta(seconds=2)) == ["exec_3", "exec_2"]
    assert await ids(status=Status.QUEUED, task="task_2") == ["exec_2"]
    assert await ids(status=Status.RUNNING) == []


async def test_executions_are_listed_by_agent(stores: Stores) -> None:
    for number, agent in enumerate("aba"):
        moment = NOW + timedelta(seconds=number)
        await put(stores.tasks, stores.executions, replace(EXECUTION, id=f"exec_{number}", agent=agent, created_at=moment))
    which = Filter(agent="a", status=Status.QUEUED)
    listed = await stores.executions.list(EXECUTION.workspace, which=which)
    assert [(execution.id, execution.agent) for execution in listed] == [("exec_2", "a"), ("exec_0", "a")]


async def test_the_executions_that_have_not_ended_are_those_of_all_workspaces(stores: Stores) -> None:
    assert await stores.executions.list_unfinished("ann") == ()
    for number, workspace in enumerate("wvw"):
        moment = NOW + timedelta(seconds=number)
        await put(
            stores.tasks, stores.executions, replace(EXECUTION, id=f"exec_{number}", workspace=workspace, created_at=moment)
        )
    await stores.executions.claim("exec_2", slice=0, holder="h", now=LATER, lease=LEASE)
    await stores.executions.cancel("exec_0", by=OWNER, now=LATER)
    assert await stores.executions.list_unfinished("ann") == ("exec_2", "exec_1")


async def test_pages_of_executions_hold_each_of_them_once(stores: Stores) -> None:
    for number in range(7):  # some of them of one moment
        moment = NOW + timedelta(seconds=number // 3)
        await put(stores.tasks, stores.executions, replace(EXECUTION, id=f"exec_{number}", created_at=moment))
    pages, after = [], None
    for _ in range(4):
        page = await stores.executions.list(EXECUTION.workspace, after=after, most=2)
        pages.append([execution.id for execution in page])
        after = page.end
    assert pages == [["exec_6", "exec_5"], ["exec_4", "exec_3"], ["exec_2", "exec_1"], ["exec_0"]]
    assert after is None


async def test_what_is_started_meanwhile_moves_no_page(stores: Stores) -> None:
    for number in range(3):
        await put(stores.tasks, stores.executions, replace(EXECUTION, id=f"exec_{number}", created_at=NOW + timedelta(number)))
    first = await stores.executions.list(EXECUTION.workspace, most=2)
    await put(stores.tasks, stores.executions, replace(EXECUTION, id="exec_9", created_at=NOW + timedelta(9)))
    second = await stores.executions.list(EXECUTION.workspace, after=first.end, most=2)
    assert [execution.id for execution in second] == ["exec_0"]


@pytest.mark.parametrize("whose", [None, "ann"])
async def test_a_kill_switch_stops_the_next_model_call_and_the_next_beat(stores: Stores, whose: str | None) -> None:
    execution = await open_execution(stores)
    await stores.halts.put(whose, on=True, now=NOW)
    for write in (stores.executions.ask, stores.executions.renew):
        with pytest.raises(HaltedError):
            await write(execution, now=LATER, lease=LEASE)
    await stores.halts.put(whose, on=False, now=NOW - timedelta(days=1))  # before the execution was created
    await stores.executions.ask(execution, now=LATER, lease=LEASE)


async def test_of_several_executions_those_to_be_cancelled_are_read_at_once(stores: Stores) -> None:
    await open_execution(stores)
    assert await stores.halts.list_cancelled(["exec_1", "none"]) == set()
    await stores.executions.cancel("exec_1", by=OWNER, now=LATER)
    assert await stores.halts.list_cancelled(["exec_1", "none"]) == {"exec_1"}


@pytest.mark.parametrize("others", [0, 60])
async def test_switches_of_several_executions_are_read_at_once(stores: Stores, others: int) -> None:
    later = LATER + timedelta(seconds=1)
    for number in range(others):
        await stores.halts.put(f"other_{number}", on=True, now=LATER)
    await stores.halts.put("let go", on=True, now=NOW)
    await stores.halts.put("let go", on=False, now=LATER)
    await stores.halts.put("ann", on=True, now=LATER)
    executions = [("ann", NOW), ("ann", later), ("bob", NOW), ("let go", NOW), ("let go", later)]
    reasons = await stores.halts.find_halt_reasons(executions)
    assert reasons == {("ann", NOW): BY_OWNER, ("ann", later): BY_OWNER, ("let go", NOW): BY_OWNER}
    await stores.halts.put(None, on=True, now=LATER)
    assert await stores.halts.find_halt_reasons(executions) == dict.fromkeys(executions, BY_OPERATOR)


@pytest.mark.parametrize("whose", [None, "ann"])
async def test_a_kill_switch_that_was_let_go_still_stops_what_was_there_before(stores: Stores, whose: str | None) -> None:
    execution = await open_execution(stores)
    await stores.halts.put(whose, on=True, now=NOW)
    await stores.halts.put(whose, on=False, now=LATER)
    assert await stores.halts.find_halt_reason("ann") is None
    assert await stores.halts.find_halt_reason("ann", created=LATER + timedelta(seconds=1)) is None
    with pytest.raises(HaltedError):
        await stores.executions.ask(execution, now=LATER, lease=LEASE)


@pytest.mark.parametrize("whose", [None, "ann"])
async def test_a_kill_switch_stops_a_model_call_that_was_reserved(stores: Stores, whose: str | None) -> None:
    execution = await open_execution(stores)
    await stores.halts.put(whose, on=True, now=NOW)
    with pytest.raises(HaltedError):
        await stores.executions.check(execution, now=LATER)
    await stores.halts.put(whose, on=False, now=LATER)
    with pytest.raises(HaltedError):
        await stores.executions.check(execution, now=LATER)


async def take_task_away(stores: Stores, fact: str) -> None:
    """Make "disabled" or "deleted" true of the task of the execution."""
    if fact == "disabled":
        await stores.tasks.update(replace(TASK, enabled=False), ["enabled"], since=TASK.updated_at)
    else:
        await stores.tasks.delete("task_1")


@pytest.mark.parametrize("fact", ["disabled", "deleted"])
async def test_a_task_that_is_disabled_or_deleted_stops_a_model_call_that_was_reserved(stores: Stores, fact: str) -> None:
    execution = await open_execution(stores)
    await take_task_away(stores, fact)
    with pytest.raises(TaskDisabledError):
        await stores.executions.check(execution, now=LATER)


async def test_what_may_ask_its_model_is_not_written_for_it(stores: Stores) -> None:
    execution = await open_execution(stores)
    before = await read_execution(stores)
    assert await stores.executions.check(execution, now=LATER) == execution
    await stores.executions.cancel("exec_1", by=OWNER, now=LATER)
    assert (await stores.executions.check(execution, now=LATER)).cancel_requested
    assert await read_execution(stores) == replace(before, cancel_requested=True, cancelled_by=OWNER)


@pytest.mark.parametrize("between", ["nothing", "cancel", "beat"])
async def test_a_turn_is_kept_whatever_was_written_since_its_model_was_asked(stores: Stores, between: str) -> None:
    execution = apply_turn(await open_execution(stores))
    await stores.executions.check(execution, now=LATER)
    if between == "cancel":
        await stores.executions.cancel("exec_1", by=OWNER, now=LATER)
    elif between == "beat":
        await stores.executions.renew(execution, now=LATER, lease=LEASE)
    after = await stores.executions.commit(execution, turn(), now=LATER, lease=LEASE)
    assert await read_execution(stores) == replace(
        after, cancel_requested=between == "cancel", cancelled_by=OWNER if between == "cancel" else ""
    )
    assert list(await stores.executions.steps("exec_1")) == [turn().step]
    assert list(await stores.executions.tickets("exec_1")) == list(turn().tickets)


@pytest.mark.parametrize("fact", ["disabled", "deleted"])
async def test_a_task_that_is_disabled_or_deleted_stops_the_next_model_call(stores: Stores, fact: str) -> None:
    execution = await open_execution(stores)
    await take_task_away(stores, fact)
    with pytest.raises(TaskDisabledError):
        await stores.executions.ask(execution, now=LATER, lease=LEASE)


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
    assert [ticket.seq for ticket in await stores.executions.tickets("exec_1", first=1, most=2)] == [1, 2]


async def test_calls_in_brief_are_those_without_what_is_large(stores: Stores) -> None:
    execution = await stores.executions.commit(await open_execution(stores), turn(), now=NOW, lease=LEASE)
    await stores.executions.settle(execution, 1, RESULT, now=LATER)
    tickets = await stores.executions.tickets("exec_1")
    assert [ticket.display_arguments for ticket in tickets] != [{}, {}]
    assert list(await stores.executions.brief_tickets("exec_1", first=0, most=9)) == [to_brief(ticket) for ticket in tickets]
    assert [ticket.seq for ticket in await stores.executions.brief_tickets("exec_1", first=1, most=1)] == [1]


async def test_turns_in_brief_are_those_without_what_the_model_wrote(stores: Stores) -> None:
    execution = await open_execution(stores)
    for number in (1, 2, 3):
        execution = await stores.executions.commit(execution, turn(number, first=2 * (number - 1)), now=LATER, lease=LEASE)
    second = (await stores.executions.steps("exec_1", after=1, most=1))[0]
    assert second.content
    assert list(await stores.executions.brief_steps("exec_1", after=1, most=1)) == [replace(second, content=())]


async def test_a_turn_does_not_undo_a_cancel(stores: Stores) -> None:
    execution = await open_execution(stores)
    await stores.executions.cancel("exec_1", by=OWNER, now=LATER)
    await stores.executions.commit(apply_turn(execution), turn(), now=LATER, lease=LEASE)
    assert (await read_execution(stores)).cancel_requested


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


async def test_a_queued_execution_that_is_cancelled_is_over(stores: Stores) -> None:
    await put(stores.tasks, stores.executions, EXECUTION)
    over = replace(
        EXECUTION,
        status=Status.KILLED,
        cancel_requested=True,
        cancelled_by=OWNER,
        error="cancelled before it started",
        completed_at=LATER,
    )
    assert await stores.executions.cancel("exec_1", by=OWNER, now=LATER) == over
    assert await read_execution(stores) == over
    assert await stores.executions.cancel("exec_1", by=OWNER, now=TOO_LATE) == over


async def test_a_running_execution_that_is_cancelled_is_flagged(stores: Stores) -> None:
    execution = await claim_execution(stores)
    flagged = replace(execution, cancel_requested=True, cancelled_by="person_1")
    assert await stores.executions.cancel("exec_1", by="person_1", now=LATER) == flagged


async def test_who_cancels_first_is_named(stores: Stores) -> None:
    await claim_execution(stores)
    await stores.executions.cancel("exec_1", by="person_1", now=LATER)
    await stores.executions.cancel("exec_1", by=OWNER, now=LATER)
    assert (await read_execution(stores)).cancelled_by == "person_1"


async def test_what_does_not_exist_is_not_cancelled(stores: Stores) -> None:
    assert await stores.executions.cancel("exec_1", by=OWNER, now=NOW) is None


async def test_an_end_that_knows_of_no_cancel_is_not_stored_over_one(stores: Stores) -> None:
    execution = await open_execution(stores)
    await stores.executions.cancel("exec_1", by=OWNER, now=NOW)
    assert await stores.executions.finish(execution, DONE, now=NOW) is None
    assert (await read_execution(stores)).status is Status.RUNNING
    assert await stores.executions.finish(replace(execution, cancel_requested=True), DONE, now=NOW) is not None
    assert ((await read_execution(stores)).status, (await read_execution(stores)).cancel_requested) == (DONE.status, True)


async def test_calls_that_a_call_asks_for_are_stored_once_with_the_count_of_events_and_their_receipts(stores: Stores) -> None:
    execution = await open_execution(stores)
    execution = await stores.executions.commit(apply_turn(execution), turn(), now=NOW, lease=LEASE)
    tickets = tuple(replace(turn().tickets[0], seq=seq, parent=1) for seq in (2, 5))
    signed, head = receipts(execution.receipts, ReceiptKind.PLANNED, ReceiptKind.PLANNED)
    planned = replace(execution, events=execution.events + 4, receipts=head, credits_used=Decimal(9))
    assert await stores.executions.journal_sub_calls(planned, tickets, receipts=signed, now=LATER) == planned
    stored = await read_execution(stores)
    assert (stored.events, stored.receipts, stored.credits_used) == (10, head, execution.credits_used)
    assert [(call.seq, call.parent) for call in await stores.executions.tickets("exec_1")] == [
        *((0, None), (1, None)),
        *((2, 1), (5, 1)),
    ]
    assert [call.seq for call in await stores.executions.tickets("exec_1", first=3)] == [5]
    assert await stores.executions.receipts("exec_1") == [*signed]


async def test_a_holder_whose_time_is_over_adds_no_calls(stores: Stores) -> None:
    execution = await open_execution(stores)
    execution = await stores.executions.commit(apply_turn(execution), turn(), now=NOW, lease=LEASE)
    signed, head = receipts(execution.receipts, ReceiptKind.PLANNED)
    late = replace(execution, receipts=head)
    with pytest.raises(StaleError):
        await stores.executions.journal_sub_calls(
            late, (replace(turn().tickets[0], seq=2, parent=1),), receipts=signed, now=TOO_LATE
        )
    assert len(await stores.executions.tickets("exec_1")) == 2
