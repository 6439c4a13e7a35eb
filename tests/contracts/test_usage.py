"""Usage: an event comes with its commit, is rolled up exactly once, and goes with its workspace."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from datetime import timedelta

import pytest

from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution
from ferryman.domain.jobs.parts import PARTS
from ferryman.domain.metering.counts import UsageCounts
from ferryman.domain.metering.event import UsageEvent
from ferryman.domain.metering.rounds import SPACING
from ferryman.domain.metering.week import RowKind, WeekPart, find_day
from ferryman.domain.stale import StaleError
from ferryman.ports.errors import UnavailableError
from tests.metering.events import MONDAY, build_event, draw_event, sum_counts

from .belongings import build_job
from .conftest import Stores
from .test_jobs import claim
from .values import DONE, LATER, LEASE, NOW, apply_turn, open_execution, open_workspaces, turn

WEEK = "2026-11-23"
EVENTS = [draw_event(random.Random(number), number) for number in range(6)]
AFTER = MONDAY + timedelta(days=7)


async def store(stores: Stores, events: Iterable[UsageEvent], *, execution: Execution | None = None) -> Execution:
    """Store each event as the loop does, in the commit of a turn; return the execution."""
    execution = execution or await open_execution(stores)
    for number, event in enumerate(events, execution.iterations + 1):
        with_event = replace(turn(number, calls=0), usage_event=event)
        counted = replace(apply_turn(execution), iterations=number)
        execution = await stores.executions.commit(counted, with_event, now=LATER, lease=LEASE)
    return execution


async def roll_up(stores: Stores, *, most: int = 100, rounds: int = 20) -> int:
    """Roll up until nothing is left; return how many commits that took."""
    now = AFTER
    for number in range(rounds):
        if not (await stores.usage.roll_up("ws_1", most=most, now=now)).more:
            return number + 1
        now += SPACING
    raise AssertionError("it does not end")


async def read(stores: Stores, part: WeekPart, *mondays: str) -> dict[tuple[RowKind, str, str], UsageCounts]:
    weeks = await stores.usage.list_weeks("ws_1", mondays=mondays or (WEEK,), part=part)
    return {(kind, day, name): counts for week in weeks for day, kind, name, counts in week.read_rows()}


async def test_an_event_is_stored_in_the_commit_of_its_turn_and_in_that_of_the_end(stores: Stores) -> None:
    first, second = build_event(1), build_event(2, turns=0)
    execution = await store(stores, [first])
    await stores.executions.finish(execution, replace(DONE, usage_event=second), now=LATER)
    stored = await stores.usage.list_events("ws_1", most=10)
    assert sorted(stored, key=lambda event: event.turns, reverse=True) == [first, second]


async def test_a_holder_whose_lease_has_passed_stores_no_event(stores: Stores) -> None:
    execution = await open_execution(stores)
    with pytest.raises(StaleError):
        await stores.executions.commit(
            apply_turn(execution), replace(turn(), usage_event=build_event()), now=NOW + LEASE, lease=LEASE
        )
    assert await stores.usage.list_events("ws_1", most=10) == []


async def test_what_is_rolled_up_is_what_the_events_have(stores: Stores) -> None:
    await store(stores, EVENTS)
    assert await roll_up(stores) == 1
    assert await stores.usage.list_events("ws_1", most=10) == []
    models = await read(stores, WeekPart.MODELS)
    whole = sum_counts(event.count_all() for event in EVENTS)
    for kind in (RowKind.MODEL, RowKind.AGENT):
        assert sum_counts(counts for (of, _, _), counts in models.items() if of is kind) == whole
    assert {day for _, day, _ in models} == {find_day(event.at) for event in EVENTS}
    tools = sum_counts((await read(stores, WeekPart.TOOLS)).values())
    assert (tools.calls, tools.failures, tools.credits) == (whole.calls, whole.failures, whole.credits - whole.llm_tokens)


async def test_slices_add_up_to_the_whole(stores: Stores) -> None:
    await store(stores, EVENTS)
    assert await roll_up(stores, most=2) == 4
    models = await read(stores, WeekPart.MODELS)
    whole = sum_counts(event.count_all() for event in EVENTS)
    assert sum_counts(counts for (kind, _, _), counts in models.items() if kind is RowKind.MODEL) == whole


async def test_rolling_up_at_once_adds_every_event_once(stores: Stores) -> None:
    await store(stores, EVENTS)

    async def try_it() -> None:
        try:
            await stores.usage.roll_up("ws_1", most=3, now=AFTER)
        except UnavailableError:
            return  # the queue delivers it again

    await asyncio.gather(*(try_it() for _ in range(5)))
    await roll_up(stores)
    models = await read(stores, WeekPart.MODELS)
    whole = sum_counts(event.count_all() for event in EVENTS)
    assert sum_counts(counts for (kind, _, _), counts in models.items() if kind is RowKind.AGENT) == whole


async def test_a_week_is_not_written_again_before_its_time(stores: Stores) -> None:
    await store(stores, EVENTS)
    await stores.usage.roll_up("ws_1", most=1, now=AFTER)
    waiting = await stores.usage.roll_up("ws_1", most=1, now=AFTER + SPACING / 2)
    assert (waiting.events, waiting.more) == (0, True)
    assert (await stores.usage.roll_up("ws_1", most=1, now=AFTER + SPACING)).events == 1


async def test_late_events_are_added_to_the_week_of_their_days(stores: Stores) -> None:
    late = [build_event(number, at=MONDAY - timedelta(days=number)) for number in (0, 1, 7, 8, 15)]
    await store(stores, late)
    await roll_up(stores)
    rows = await read(stores, WeekPart.MODELS, "2026-11-02", "2026-11-09", "2026-11-16", WEEK)
    days = [day for kind, day, _ in rows if kind is RowKind.MODEL]
    assert days == sorted(find_day(event.at) for event in late)


async def test_nothing_is_rolled_up_for_another_workspace(stores: Stores) -> None:
    await store(stores, [build_event()])
    assert (await stores.usage.roll_up("ws_2", most=10, now=AFTER)).events == 0
    assert await stores.usage.list_weeks("ws_2", mondays=[WEEK], part=WeekPart.MODELS) == []


async def test_late_workspaces_are_found_once_each(stores: Stores) -> None:
    await store(stores, [build_event(number, workspace=f"ws_{number % 2}") for number in range(4)])
    assert sorted(await stores.usage.list_late(before=AFTER, most=10)) == ["ws_0", "ws_1"]
    assert await stores.usage.list_late(before=MONDAY, most=10) == []


async def test_events_and_weeks_are_deleted_with_their_workspace(stores: Stores) -> None:
    execution = await store(stores, EVENTS[:2])
    await roll_up(stores)
    await store(stores, EVENTS[2:3], execution=execution)
    await open_workspaces(stores, "ws_1")
    job = await claim(stores, build_job())
    parts = [part for part in PARTS if part.name in ("usage_events", "usage")]
    for part in parts:
        deleted = await stores.job_work.delete(job, part, most=10, now=NOW, lease=LEASE)
        job = deleted.job
    assert {name: count for name, count in job.counts.items() if name.startswith("usage")} == {"usage_events": 1, "usage": 2}
    assert await stores.usage.list_events("ws_1", most=10) == []
    assert await read(stores, WeekPart.MODELS) == {}
