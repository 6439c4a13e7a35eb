"""Occupancy: so many of an owner's executions are queued and so many run, exactly, under concurrency and deaths."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.occupancy import DELIVERY_TIME, NoFreeSlotError, Occupancy, TooManyQueuedError
from ferryman.domain.owners.plan import GURU
from ferryman.ports.errors import TaskDisabledError
from ferryman.ports.executions import ExecutionEnding

from .conftest import Stores
from .values import EXECUTION, LEASE, NOW, OWNER, TASK, TOO_LATE

MOST = GURU.executions_running
HOUR = timedelta(hours=1)


def build_execution(number: int, owner: str = "ann") -> Execution:
    return replace(EXECUTION, id=f"exec_{number}", owner=owner)


@pytest.fixture
async def deps(stores: Stores) -> Stores:
    await stores.owners.put(OWNER)
    await stores.tasks.create(TASK)
    return stores


async def start(deps: Stores, count: int, *, most: int = 1_000) -> None:
    for number in range(count):
        await deps.executions.start(build_execution(number), most=most)


async def claim(deps: Stores, number: int, *, now: datetime = NOW, slice: int = 0) -> Execution | None:
    """Return the execution with its lease; None where no slot is free."""
    try:
        execution, is_claimed = await deps.executions.claim(f"exec_{number}", slice=slice, holder="h", now=now, lease=LEASE)
    except NoFreeSlotError:
        return None
    assert is_claimed
    return execution


async def test_one_queued_execution_too_many_is_refused_and_nothing_of_it_is_stored(deps: Stores) -> None:
    await start(deps, 3, most=3)
    with pytest.raises(TooManyQueuedError, match="3 executions are queued"):
        await deps.executions.start(build_execution(3), most=3)
    assert await deps.executions.get("exec_3") is None
    await deps.executions.start(replace(build_execution(4), owner="ben"), most=3)


async def test_starts_at_the_same_time_do_not_pass_the_cap_together(deps: Stores) -> None:
    await start(deps, 2)
    starts = (deps.executions.start(build_execution(10 + number), most=4) for number in range(8))
    outcomes = await asyncio.gather(*starts, return_exceptions=True)
    stored = [execution for execution in await deps.executions.list(TASK.workspace) if execution.status is Status.QUEUED]
    assert (len(stored), sum(isinstance(outcome, Occupancy) for outcome in outcomes)) == (4, 2)


@pytest.mark.parametrize("way", ["claimed", "cancelled"])
async def test_what_is_queued_no_more_makes_room(deps: Stores, way: str) -> None:
    await start(deps, 2, most=2)
    if way == "claimed":
        await claim(deps, 0)
    else:
        await deps.executions.cancel("exec_0", by="owner", now=NOW)
    await deps.executions.start(build_execution(2), most=2)
    with pytest.raises(TooManyQueuedError):
        await deps.executions.start(build_execution(3), most=2)


@pytest.mark.parametrize("is_deleted", [False, True])
async def test_an_execution_of_a_task_that_was_disabled_or_deleted_is_not_stored(deps: Stores, is_deleted: bool) -> None:
    if is_deleted:
        await deps.tasks.delete(TASK.id)
    else:
        await deps.tasks.update(replace(TASK, enabled=False), ("enabled",), since=NOW)
    with pytest.raises(TaskDisabledError):
        await deps.executions.start(EXECUTION, most=9)
    assert await deps.executions.get(EXECUTION.id) is None


async def test_as_many_run_as_the_plan_allows_and_the_next_one_stays_as_it_was(deps: Stores) -> None:
    await start(deps, MOST + 1)
    assert [(await claim(deps, number)) is not None for number in range(MOST + 1)] == [True] * MOST + [False]
    waiting = await deps.executions.get(f"exec_{MOST}")
    assert waiting == build_execution(MOST)


async def test_another_owner_has_slots_of_its_own(deps: Stores) -> None:
    await start(deps, MOST)
    for number in range(MOST):
        await claim(deps, number)
    await deps.owners.put(replace(OWNER, id="ben"))
    await deps.executions.start(build_execution(MOST, "ben"), most=1)
    assert await claim(deps, MOST) is not None


async def test_claims_at_the_same_time_do_not_pass_the_cap_together(deps: Stores) -> None:
    await start(deps, MOST + 3)
    for number in range(MOST - 1):
        await claim(deps, number)
    claims = await asyncio.gather(*(claim(deps, number) for number in range(MOST - 1, MOST + 3)))
    assert sum(claim is not None for claim in claims) == 1


@pytest.mark.parametrize("way", ["ended", "given up", "handed over"])
async def test_a_slot_is_free_once_its_execution_holds_no_lease(deps: Stores, way: str) -> None:
    await start(deps, MOST + 1)
    first, *_ = [await claim(deps, number) for number in range(MOST)]
    assert first is not None
    if way == "ended":
        await deps.executions.finish(first, ExecutionEnding(status=Status.FAILED), now=NOW)
    elif way == "given up":
        await deps.executions.give_up(first, now=NOW)
    else:
        await deps.executions.hand_over(first, now=NOW)
    assert await claim(deps, MOST) is not None


async def test_one_that_waits_for_its_next_slice_waits_for_a_slot_too(deps: Stores) -> None:
    await start(deps, MOST + 1)
    first, *_ = [await claim(deps, number) for number in range(MOST)]
    assert first is not None
    await deps.executions.hand_over(first, now=NOW)
    await claim(deps, MOST)
    assert await claim(deps, 0, slice=1) is None


async def test_a_dead_ones_slot_is_free_when_its_lease_has_run_out(deps: Stores) -> None:
    await start(deps, MOST + 1)
    for number in range(MOST):
        await claim(deps, number)
    assert await claim(deps, MOST, now=TOO_LATE - timedelta(seconds=1)) is None
    assert await claim(deps, MOST, now=TOO_LATE) is not None


async def test_a_lease_that_was_renewed_keeps_its_slot(deps: Stores) -> None:
    await start(deps, MOST + 1)
    executions = [await claim(deps, number) for number in range(MOST)]
    for execution in executions:
        assert execution is not None
        await deps.executions.renew(execution, now=NOW, lease=HOUR)
    assert await claim(deps, MOST, now=TOO_LATE) is None
    assert await claim(deps, MOST, now=NOW + HOUR) is not None


async def test_one_that_was_cancelled_ends_whether_a_slot_is_free_or_not(deps: Stores) -> None:
    await start(deps, MOST + 1)
    first, *_ = [await claim(deps, number) for number in range(MOST)]
    assert first is not None
    await deps.executions.hand_over(first, now=NOW)
    await claim(deps, MOST)
    await deps.executions.cancel("exec_0", by="owner", now=NOW)
    assert await claim(deps, 0, slice=1) is not None


async def test_the_slots_of_the_dead_are_taken_once_however_many_ask_at_once(deps: Stores) -> None:
    await start(deps, MOST + 4)
    for number in range(MOST):
        await claim(deps, number)
    late = [claim(deps, number, now=TOO_LATE) for number in range(MOST, MOST + 4)]
    assert all(claim is not None for claim in await asyncio.gather(*late))
    assert [await claim(deps, number, now=TOO_LATE) is not None for number in range(2)] == [True, False]


async def test_a_start_answers_the_occupancy_with_the_execution_in_it(deps: Stores) -> None:
    await start(deps, 1)
    await claim(deps, 0)
    occupied = await deps.executions.start(build_execution(1), most=2)
    assert (list(occupied.queued), list(occupied.running)) == (["exec_1"], ["exec_0"])


async def test_a_slot_that_was_freed_is_for_the_one_that_is_queued_longest(deps: Stores) -> None:
    await start(deps, MOST)
    first, *_ = [await claim(deps, number) for number in range(MOST)]
    assert first is not None
    for number in range(MOST, MOST + 3):
        await deps.executions.start(replace(build_execution(number), created_at=NOW - timedelta(seconds=number)), most=9)
    assert [*await deps.executions.next_queued("ann", now=NOW)] == []
    await deps.executions.finish(first, ExecutionEnding(status=Status.FAILED), now=NOW)
    assert [*await deps.executions.next_queued("ann", now=NOW)] == [f"exec_{MOST + 2}"]


async def test_one_that_was_queued_just_now_comes_by_itself(deps: Stores) -> None:
    await start(deps, 1)
    waits = [DELIVERY_TIME - timedelta(milliseconds=1), DELIVERY_TIME]
    created = (await deps.executions.list(TASK.workspace)).items[0].created_at
    assert [len(await deps.executions.next_queued("ann", now=created + wait)) for wait in waits] == [0, 1]


async def test_an_owner_whose_plan_is_not_known_is_given_no_slot(deps: Stores) -> None:
    assert [*await deps.executions.next_queued("nobody", now=NOW)] == []
