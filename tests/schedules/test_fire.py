"""A fire: each time makes one execution, at its time, and what is void changes nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.occupancy import Occupancy
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import PRO
from ferryman.domain.tasks import firing
from ferryman.domain.tasks.schedule import Schedule, ScheduleType
from ferryman.inmemory.clock import START

from .conftest import HOURLY, Stage

HOUR, DAY, SECOND = timedelta(hours=1), timedelta(days=1), timedelta(seconds=1)


def times(stage: Stage) -> list[timedelta]:
    return [execution.scheduled_for - START for execution in stage.executions if execution.scheduled_for]


async def test_every_hour_makes_one_execution_and_puts_it_into_the_queue(stage: Stage) -> None:
    await stage.schedule()
    await stage.turn(3 * HOUR)
    assert times(stage) == [HOUR, 2 * HOUR, 3 * HOUR]
    assert stage.enqueued == [execution.id for execution in stage.executions]
    assert stage.task.next_fire_at == START + 4 * HOUR


async def test_a_delay_fires_once_and_never_again(stage: Stage) -> None:
    await stage.schedule(Schedule(type=ScheduleType.DELAYED, after_s=90))
    await stage.turn(DAY)
    assert times(stage) == [timedelta(seconds=90)]
    assert (stage.task.next_fire_at, stage.timers.waiting) == (None, [])


async def test_a_moment_years_away_is_reached_in_hops_that_cloud_tasks_takes(stage: Stage) -> None:
    moment = START + 400 * DAY
    await stage.schedule(Schedule(type=ScheduleType.ONCE, at=moment))
    ahead = []
    while (timer := stage.timers.next()) is not None and stage.clock.now() < moment:
        if timer.fire:
            ahead.append(timer.due - stage.clock.now())
            stage.clock.turn(timer.due - stage.clock.now())
            assert await stage.deliver(timer)
        stage.timers.remove(timer)
    assert times(stage) == [400 * DAY]
    assert (len(ahead), max(ahead) <= 29 * DAY) == (16, True)


async def test_a_timer_that_comes_twice_makes_one_execution(stage: Stage) -> None:
    await stage.schedule()
    timer = next(timer for timer in stage.timers.waiting if timer.fire)
    stage.clock.turn(HOUR)
    for _ in range(3):
        assert await stage.deliver(timer)
    assert (len(stage.executions), stage.enqueued) == (1, [stage.executions[0].id])
    assert sum(timer.fire is not None for timer in stage.timers.waiting) == 2  # this one and the next hour's


async def test_a_timer_that_is_a_moment_early_comes_again(stage: Stage) -> None:
    await stage.schedule()
    timer = next(timer for timer in stage.timers.waiting if timer.fire)
    stage.clock.turn(HOUR - SECOND)
    assert not await stage.deliver(timer)
    stage.clock.turn(SECOND)
    assert await stage.deliver(timer)
    assert times(stage) == [HOUR]


async def test_times_that_were_missed_run_once(stage: Stage) -> None:
    await stage.schedule()
    stage.clock.turn(7.5 * 3600)
    await stage.turn(HOUR)
    assert times(stage) == [HOUR, 8 * HOUR]


@pytest.mark.parametrize("change", ["deleted", "turned off", "scheduled anew", "no schedule"])
async def test_what_became_void_changes_nothing(stage: Stage, change: str) -> None:
    await stage.schedule()
    timer = next(timer for timer in stage.timers.waiting if timer.fire)
    if change == "deleted":
        del stage.memory.tasks["task_1"]
    elif change == "turned off":
        await stage.schedule(enabled=False)
    else:
        await stage.schedule(Schedule(type=ScheduleType.CRON, cron="30 * * * *") if change == "scheduled anew" else None)
    before = dict(stage.memory.tasks)
    stage.clock.turn(HOUR)
    assert await stage.deliver(timer)
    assert (stage.executions, stage.enqueued, stage.memory.tasks) == ([], [], before)


async def test_an_execution_whose_task_is_deleted_before_it_is_enqueued_is_enqueued_all_the_same(stage: Stage) -> None:
    await stage.schedule()
    timer = next(timer for timer in stage.timers.waiting if timer.fire)
    assert timer.fire is not None
    stage.clock.turn(HOUR)
    await stage.deps().schedules.fire(timer.fire, now=stage.clock.now())  # and then its process died
    del stage.memory.tasks["task_1"]
    assert await stage.deliver(timer)
    assert stage.enqueued == [timer.fire.execution]  # and fails with the reason: the task was deleted


async def failing(stage: Stage, *statuses: Status) -> None:
    """Let an hour pass for each status, in which that hour's execution ends with it."""
    for status in statuses:
        await stage.turn(HOUR)
        stage.end(stage.executions[-1], status)


async def test_three_failures_in_a_row_pause_the_task(stage: Stage) -> None:
    await stage.schedule()
    await failing(stage, Status.FAILED, Status.TIMEOUT, Status.FAILED)
    await stage.turn(DAY)
    assert len(stage.executions) == 3
    assert stage.task.paused == f"3 scheduled executions in a row failed, the last one {stage.executions[-1].id}"


async def test_a_success_between_failures_starts_the_count_again(stage: Stage) -> None:
    await stage.schedule()
    await failing(stage, Status.FAILED, Status.FAILED, Status.COMPLETED, Status.FAILED, Status.FAILED)
    await stage.turn(HOUR)
    assert (len(stage.executions), stage.task.paused) == (6, None)


async def test_a_killed_execution_neither_counts_nor_ends_the_row(stage: Stage) -> None:
    await stage.schedule()
    await failing(stage, Status.FAILED, Status.KILLED, Status.FAILED, Status.KILLED, Status.FAILED)
    await stage.turn(HOUR)
    assert (len(stage.executions), stage.task.paused is None) == (5, False)


async def test_executions_that_still_run_neither_count_nor_end_the_row(stage: Stage) -> None:
    await stage.schedule()
    await stage.turn(5 * HOUR)
    for execution in stage.executions[:3]:
        stage.end(execution, Status.FAILED)
    await stage.turn(HOUR)
    assert (len(stage.executions), stage.task.paused is None) == (5, False)


async def test_executions_that_somebody_started_do_not_count(stage: Stage) -> None:
    await stage.schedule()
    await failing(stage, Status.FAILED, Status.FAILED)
    by_hand = replace(stage.executions[0], id="exec_hand", scheduled_for=None, schedule_generation=None)
    stage.end(by_hand, Status.FAILED)
    await stage.turn(HOUR)
    assert stage.task.paused is None


async def test_a_paused_task_that_goes_on_starts_with_no_failures(stage: Stage) -> None:
    await stage.schedule()
    await failing(stage, Status.FAILED, Status.FAILED, Status.FAILED)
    await stage.turn(HOUR)
    await stage.schedule(HOURLY)
    await stage.turn(2 * HOUR)
    assert (len(stage.executions), stage.task.paused) == (5, None)


@pytest.mark.parametrize("whose", [None, "o"])
async def test_nothing_is_started_under_a_kill_switch_and_the_time_runs_once_it_is_off(stage: Stage, whose: str | None) -> None:
    await stage.schedule()
    stage.memory.halts.add(whose)
    await stage.turn(5 * HOUR)
    assert (stage.executions, stage.task.next_fire_at) == ([], START + HOUR)
    stage.memory.halts.discard(whose)
    await stage.turn(timedelta(minutes=11))
    assert times(stage) == [HOUR]
    assert stage.task.next_fire_at == START + 6 * HOUR


async def test_a_time_that_finds_the_queue_full_waits_and_is_not_lost(stage: Stage) -> None:
    stage.memory.owners["o"] = Owner(id="o", plan="pro", created_at=START)
    await stage.schedule()
    full = Occupancy(queued={f"exec_{number}": START for number in range(PRO.executions_queued)})
    stage.memory.occupancy["o"] = full
    await stage.turn(HOUR + firing.FULL_PAUSE * 3)
    assert (stage.executions, stage.task.next_fire_at) == ([], START + HOUR)
    stage.memory.occupancy["o"] = Occupancy()
    await stage.turn(firing.FULL_PAUSE)
    assert [execution.scheduled_for for execution in stage.executions] == [START + HOUR]
    assert list(stage.memory.occupancy["o"].queued) == [stage.executions[0].id]


async def test_a_time_of_a_task_that_is_disabled_starts_nothing(stage: Stage) -> None:
    await stage.schedule()
    timer = stage.timers.next()
    assert timer is not None
    stage.memory.tasks["task_1"] = replace(stage.task, enabled=False)  # as a change that this timer races leaves it
    stage.clock.turn(HOUR)
    assert await stage.deliver(timer)
    assert (stage.executions, stage.enqueued) == ([], [])
