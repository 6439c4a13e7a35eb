"""The sweep: a time whose timer was lost comes all the same, and nothing runs while no task waits."""

from __future__ import annotations

from datetime import timedelta

from ferryman.domain.tasks.schedule import Schedule, ScheduleType
from ferryman.inmemory.clock import START
from ferryman.inmemory.queue import QueuedTimer

from .conftest import Stage

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


async def test_a_lost_timer_is_set_again_within_a_window(stage: Stage) -> None:
    await stage.schedule(Schedule(type=ScheduleType.CRON, cron="5 * * * *"))
    await stage.turn(6 * MINUTE, lose=True)
    assert stage.executions == []
    await stage.turn(10 * MINUTE)
    assert [execution.scheduled_for for execution in stage.executions] == [START + 5 * MINUTE]
    assert [execution.created_at for execution in stage.executions] == [START + 10 * MINUTE]
    assert stage.task.next_fire_at == START + HOUR + 5 * MINUTE


async def test_of_timers_that_are_always_lost_every_time_still_comes(stage: Stage) -> None:
    await stage.schedule()
    for _ in range(3):
        stage.timers.waiting[:] = [timer for timer in stage.timers.waiting if timer.fire is None]
        await stage.turn(HOUR + 15 * MINUTE)
    assert len(stage.executions) == 3


async def test_a_time_that_has_just_come_is_left_to_its_timer(stage: Stage) -> None:
    await stage.schedule()
    stage.clock.turn(HOUR + MINUTE)
    before = list(stage.timers.waiting)
    await stage.deliver(QueuedTimer(None, stage.clock.now()))
    assert [timer for timer in stage.timers.waiting if timer.fire] == [timer for timer in before if timer.fire]


async def test_a_sweep_that_comes_twice_sets_a_timer_once(stage: Stage) -> None:
    await stage.schedule()
    stage.clock.turn(2 * HOUR)
    for _ in range(3):
        await stage.deliver(QueuedTimer(None, START + 2 * HOUR))
        stage.clock.turn(1)
    assert [timer.wake_up for timer in stage.timers.waiting if timer.fire] == ["", "sweep"]


async def test_a_sweep_by_anothers_clock_sets_a_lost_timer_once_a_window(stage: Stage) -> None:
    await stage.schedule()
    stage.memory.halts.add(None)
    stage.timers.waiting.clear()
    stage.clock.turn(2 * HOUR)
    for minutes in (0, 3, 9, 1):  # 14:00, 14:03, 14:12 and 14:13
        stage.clock.turn(minutes * MINUTE)
        await stage.deliver(QueuedTimer(None, START - 24 * HOUR))
    assert len([timer for timer in stage.timers.waiting if timer.fire]) == 2


async def test_a_sweep_that_comes_before_its_time_sets_the_one_after_itself(stage: Stage) -> None:
    await stage.schedule()
    first = next(timer for timer in stage.timers.waiting if timer.fire is None)
    await stage.deliver(first)  # by a clock that is ten minutes behind
    assert [timer.due for timer in stage.timers.waiting if timer.fire is None] == [START + 10 * MINUTE, START + 20 * MINUTE]


async def test_the_sweep_ends_when_no_task_waits_any_more(stage: Stage) -> None:
    await stage.schedule(Schedule(type=ScheduleType.DELAYED, after_s=3600))
    await stage.turn(2 * HOUR)
    assert (len(stage.executions), stage.timers.waiting) == (1, [])
