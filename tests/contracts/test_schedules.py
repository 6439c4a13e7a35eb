"""Schedules and timers: a time comes true once, in one transaction, and a timer is set once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ferryman.domain.executions.execution import OWNER, Execution, Status
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.tasks import firing
from ferryman.domain.tasks.firing import Fire
from ferryman.domain.tasks.schedule import Schedule, ScheduleType
from ferryman.domain.tasks.task import Task
from ferryman.ports.errors import HaltedError
from ferryman.ports.executions import ExecutionEnding

from .conftest import Stores
from .values import NOW, TASK, put

HOUR = timedelta(hours=1)
AT = NOW.replace(microsecond=0)
CRON = Schedule(type=ScheduleType.CRON, cron="0 * * * *")
DUE = replace(TASK, schedule=CRON, schedule_generation=2, next_fire_at=AT)
FIRE = Fire(task="task_1", generation=2, at=AT)


async def read_task(stores: Stores) -> Task:
    task = await stores.tasks.get("task_1")
    assert task is not None
    return task


async def add_ended(stores: Stores, number: int, status: Status, *, generation: int | None = 2) -> None:
    at = NOW - timedelta(minutes=10 - number)
    name = f"exec_{number}"
    execution = Execution(id=name, task="task_1", owner="ann", created_at=at, schedule_generation=generation)
    await put(stores.tasks, stores.executions, execution)
    if status is Status.QUEUED:
        return
    claimed, _ = await stores.executions.claim(name, slice=0, holder="h", now=at, lease=timedelta(seconds=60))
    if status.terminal:
        await stores.executions.finish(claimed, ExecutionEnding(status=status), now=at)


@pytest.mark.parametrize(
    "schedule",
    [CRON, Schedule(type=ScheduleType.ONCE, at=NOW), Schedule(type=ScheduleType.DELAYED, after_s=5), None],
    ids=["cron", "once", "delayed", "none"],
)
async def test_a_scheduled_task_comes_back_as_it_was_put(stores: Stores, schedule: Schedule | None) -> None:
    task = replace(DUE, schedule=schedule, paused="why")
    await stores.tasks.create(task)
    assert await read_task(stores) == task


async def test_a_time_that_is_due_makes_its_execution_and_moves_the_task_on(stores: Stores) -> None:
    await stores.tasks.create(DUE)
    fired = await stores.schedules.fire(FIRE, now=NOW)
    assert await read_task(stores) == fired.task == replace(DUE, next_fire_at=datetime(2026, 11, 21, 13, tzinfo=NOW.tzinfo))
    execution = Execution(
        id=FIRE.execution, task="task_1", owner="ann", created_at=NOW, scheduled_for=AT, schedule_generation=2
    )
    assert await stores.executions.get(FIRE.execution) == fired.execution == execution


async def test_a_time_comes_true_once_however_many_bring_it_at_once(stores: Stores) -> None:
    await stores.tasks.create(DUE)
    fired = await asyncio.gather(*(stores.schedules.fire(FIRE, now=NOW) for _ in range(8)))
    assert {fired_schedule.execution.id for fired_schedule in fired if fired_schedule.execution} == {FIRE.execution}
    assert len((await stores.executions.list(TASK.workspace)).items) == 1
    assert (await read_task(stores)).next_fire_at == AT + HOUR


async def test_an_execution_that_has_gone_on_is_returned_as_it_is(stores: Stores) -> None:
    await stores.tasks.create(DUE)
    await stores.schedules.fire(FIRE, now=NOW)
    await stores.executions.cancel(FIRE.execution, by=OWNER, now=NOW)
    again = await stores.schedules.fire(FIRE, now=NOW)
    assert (again.execution and again.execution.status) is Status.KILLED


@pytest.mark.parametrize(
    "fire",
    [replace(FIRE, generation=1), replace(FIRE, generation=3), replace(FIRE, at=AT - HOUR), replace(FIRE, task="task_2")],
    ids=["an old generation", "one to come", "another time", "no such task"],
)
async def test_a_time_that_is_not_the_tasks_next_one_changes_nothing(stores: Stores, fire: Fire) -> None:
    await stores.tasks.create(DUE)
    fired = await stores.schedules.fire(fire, now=NOW)
    assert (fired.task, fired.execution) == (DUE if fire.task == "task_1" else None, None)
    assert (await read_task(stores), list(await stores.executions.list(TASK.workspace))) == (DUE, [])


async def test_a_time_that_is_to_come_changes_nothing_yet(stores: Stores) -> None:
    await stores.tasks.create(DUE)
    fired = await stores.schedules.fire(FIRE, now=AT - timedelta(seconds=1))
    assert (fired.task, fired.execution, await read_task(stores)) == (DUE, None, DUE)


async def test_three_failures_of_this_schedule_pause_the_task(stores: Stores) -> None:
    await stores.tasks.create(DUE)
    statuses = (Status.FAILED, Status.KILLED, Status.TIMEOUT, Status.QUEUED, Status.FAILED)
    for number, status in enumerate(statuses):
        await add_ended(stores, number, status)
    fired = await stores.schedules.fire(FIRE, now=NOW)
    assert fired.execution is None
    task = await read_task(stores)
    assert task == fired.task
    assert task.paused == "3 scheduled executions in a row failed, the last one exec_4"
    assert (task.next_fire_at, task.schedule_generation) == (None, 3)


@pytest.mark.parametrize("generation", [None, 1])
async def test_failures_of_another_schedule_or_of_none_do_not_count(stores: Stores, generation: int | None) -> None:
    await stores.tasks.create(DUE)
    for number in range(3):
        await add_ended(stores, number, Status.FAILED, generation=generation)
    assert (await stores.schedules.fire(FIRE, now=NOW)).execution is not None


async def test_a_success_among_the_latest_three_keeps_the_task_going(stores: Stores) -> None:
    await stores.tasks.create(DUE)
    for number, status in enumerate((Status.FAILED, Status.FAILED, Status.COMPLETED, Status.FAILED, Status.FAILED)):
        await add_ended(stores, number, status)
    assert (await stores.schedules.fire(FIRE, now=NOW)).execution is not None


@pytest.mark.parametrize("whose", [None, "ann"])
async def test_nothing_comes_true_under_a_kill_switch(stores: Stores, whose: str | None) -> None:
    await stores.tasks.create(DUE)
    await stores.halts.put(whose, on=True, now=NOW)
    with pytest.raises(HaltedError):
        await stores.schedules.fire(FIRE, now=NOW)
    assert (await read_task(stores), list(await stores.executions.list(TASK.workspace))) == (DUE, [])


async def test_the_times_that_have_passed_are_told_and_no_others(stores: Stores) -> None:
    assert not await stores.schedules.armed()
    later = replace(DUE, id="task_2", next_fire_at=AT + HOUR)
    waits_for_nothing = (replace(TASK, id="task_3"), replace(DUE, id="task_4", next_fire_at=None))
    for task in (
        *waits_for_nothing,
        later,
        DUE,
        replace(DUE, id="task_0", owner="bob", workspace="", agent="", next_fire_at=AT - HOUR),
    ):
        await stores.tasks.create(task)
    assert list(await stores.schedules.overdue(before=NOW)) == [replace(FIRE, task="task_0", at=AT - HOUR), FIRE]
    assert list(await stores.schedules.overdue(before=AT - HOUR)) == []
    assert await stores.schedules.armed()


async def test_an_owners_scheduled_tasks_are_counted_whether_they_wait_or_not(stores: Stores) -> None:
    once = Schedule(type=ScheduleType.ONCE, at=NOW)
    for task in (DUE, replace(DUE, id="task_2", schedule=once, next_fire_at=None), replace(TASK, id="task_3")):
        await stores.tasks.create(task)
    await stores.tasks.create(replace(DUE, id="task_4"), scheduled=3)
    with pytest.raises(LimitReachedError, match="an owner may have at most 3 scheduled tasks"):
        await stores.tasks.create(replace(DUE, id="task_5"), scheduled=3)
    await stores.tasks.create(replace(DUE, id="task_6", owner="bob", workspace="", agent=""), scheduled=1)


async def test_a_timer_is_set_once_and_comes_when_it_is_due(stores: Stores) -> None:
    fire = firing.find_next_fire(replace(DUE, id="task_7", next_fire_at=datetime.now(NOW.tzinfo).replace(microsecond=0) + HOUR))
    assert fire is not None
    for _ in range(3):
        await stores.timers.set(fire, due=fire.at)
        await stores.timers.sweep(due=fire.at)
    assert sorted(await stores.set_timers()) == [("sweep", fire.at), ("task_7", fire.at)]


async def test_a_time_years_away_is_taken_by_its_first_hop(stores: Stores) -> None:
    now = datetime.now(NOW.tzinfo).replace(microsecond=0)
    fire = Fire(task="task_7", generation=1, at=now + timedelta(days=3_660))
    await stores.timers.set(fire, due=firing.compute_timer_due(fire.at, now))
    ((_, due),) = await stores.set_timers()
    assert timedelta(days=3) < due - now < timedelta(days=30)


async def test_another_generation_time_or_wake_up_is_another_timer(stores: Stores) -> None:
    at = datetime.now(NOW.tzinfo).replace(microsecond=0) + HOUR
    for generation, due, wake_up in ((1, at, ""), (2, at, ""), (2, at + HOUR, ""), (2, at, "sweep"), (2, at, "sweep")):
        await stores.timers.set(Fire(task="task_7", generation=generation, at=at), due=due, wake_up=wake_up)
    assert len(await stores.set_timers()) == 4


async def test_the_timer_of_kept_results_is_set_once_for_a_workspace_and_a_day(stores: Stores) -> None:
    today = datetime.now(UTC).date()
    for days, workspace, owner in ((3, "ws_1", "ann"), (28, "ws_1", "ann"), (3, "ws_2", "bob"), (3, "ws_1", "ann")):
        await stores.kept_timers.set(workspace, owner=owner, day=today + timedelta(days=days))
    timers = sorted((name, (due.date() - today).days) for name, due in await stores.set_timers())
    assert timers == [("kept", 3), ("kept", 3), ("kept", 28)]
