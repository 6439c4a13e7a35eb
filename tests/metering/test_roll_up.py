"""Rolling up: slices of one round, each delivered as often as it may be."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from ferryman.domain.metering.rounds import ROUND_S, SLACK, SPACING, find_round
from ferryman.domain.metering.week import WeekPart
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.usage import MemoryUsage, MemoryUsageQueue, QueuedRollUp
from ferryman.metering.roll_up import LATE, MeteringDependencies, deliver, sweep

from .events import MONDAY, build_event


def build(events: int = 0, *, most: int = 2, **fields: Any) -> tuple[MeteringDependencies, Memory, MemoryUsageQueue]:
    memory, queue = Memory(), MemoryUsageQueue()
    for number in range(events):
        event = build_event(number, **fields)
        memory.usage_events[event.id] = event
    usage = MemoryUsage(memory)
    deps = MeteringDependencies(usage=usage, queue=queue, clock=ManualClock(), tracer=RecordingLog(), most=most)
    return deps, memory, queue


async def test_what_one_slice_does_not_take_is_left_to_the_next_some_time_later() -> None:
    deps, memory, queue = build(events=3)
    assert await deliver(deps, "ws_1", number=7, slice=0)
    assert len(memory.usage_events) == 1
    assert queue.queued == [QueuedRollUp("ws_1", 7, 1, SPACING)]


async def test_a_slice_that_comes_twice_enqueues_the_next_one_once() -> None:
    deps, _, queue = build(events=9)
    for _ in range(2):
        assert await deliver(deps, "ws_1", number=7, slice=0)
    assert len(queue.queued) == 1


async def test_the_last_slice_enqueues_none() -> None:
    deps, memory, queue = build(events=1)
    assert await deliver(deps, "ws_1", number=7, slice=0)
    assert (memory.usage_events, queue.queued) == ({}, [])


async def test_a_week_is_not_written_twice_within_a_second() -> None:
    deps, memory, queue = build(events=2, most=1)
    for slice in (0, 1):
        assert await deliver(deps, "ws_1", number=7, slice=slice)
    assert len(memory.usage_events) == 1
    assert isinstance(deps.clock, ManualClock)
    deps.clock.turn(SPACING)
    assert await deliver(deps, "ws_1", number=7, slice=2)
    assert memory.usage_events == {}
    assert [queued.slice for queued in queue.queued] == [1, 2, 3]


async def test_events_of_many_weeks_are_taken_week_by_week() -> None:
    deps, memory, _ = build(most=100)
    for number in range(10):
        event = build_event(number, at=MONDAY - timedelta(weeks=number))
        memory.usage_events[event.id] = event
    for slice in range(5):
        await deliver(deps, "ws_1", number=1, slice=slice)
    assert memory.usage_events == {}
    assert len(memory.usage) == 10 * len(WeekPart)


async def test_nobody_else_s_events_are_taken() -> None:
    deps, memory, _ = build(events=1, workspace="ws_2")
    await deliver(deps, "ws_1", number=7, slice=0)
    assert (len(memory.usage_events), memory.usage) == (1, {})


async def test_a_delivery_comes_again_where_the_queue_is_away() -> None:
    deps, memory, queue = build(events=3)
    queue.is_away = True
    assert not await deliver(deps, "ws_1", number=7, slice=0)
    assert len(memory.usage_events) == 1  # what it has rolled up stays
    queue.is_away = False
    assert isinstance(deps.clock, ManualClock)
    deps.clock.turn(SPACING)
    assert await deliver(deps, "ws_1", number=7, slice=0)
    assert memory.usage_events == {}


async def test_the_sweep_has_late_events_rolled_up_once_for_a_workspace() -> None:
    deps, _, queue = build(events=3, at=ManualClock().now() - LATE - timedelta(seconds=1))
    await sweep(deps)
    number, after = find_round(deps.clock.now())
    assert queue.queued == [QueuedRollUp("ws_1", number, 0, after)]


async def test_the_sweep_leaves_what_has_time_left() -> None:
    deps, _, queue = build(events=1, at=ManualClock().now() - LATE + timedelta(seconds=1))
    await sweep(deps)
    assert queue.queued == []


def test_a_round_begins_after_its_seconds_are_over() -> None:
    for seconds in (0.0, 0.1, 2.5, 4.999):
        now = MONDAY + timedelta(seconds=seconds)
        number, after = find_round(now)
        assert now + after == MONDAY + timedelta(seconds=ROUND_S) + SLACK
        assert number == find_round(MONDAY)[0]
