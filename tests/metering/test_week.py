"""Weeks: rows by day and name, within a bound."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from ferryman.domain.executions.usage import Usage
from ferryman.domain.metering.counts import UsageCounts
from ferryman.domain.metering.latency import BOUNDS_MS
from ferryman.domain.metering.names import CODES, OTHER
from ferryman.domain.metering.week import (
    KINDS,
    NAMES_MAX,
    UNBOUNDED,
    RowKind,
    UsageWeek,
    WeekPart,
    find_day,
    find_monday,
    list_mondays,
)

from .events import MONDAY, build_event, draw_event, sum_counts

DOCUMENT_BYTES_MAX = 1_000_000
LARGE = 10**12
"""More tokens, calls or bytes of one tool than a day has."""


def begin(part: WeekPart = WeekPart.MODELS) -> UsageWeek:
    return UsageWeek.begin("ws_1", "2026-11-23", part)


def test_a_week_begins_on_monday_at_midnight_in_utc() -> None:
    late = datetime(2026, 11, 29, 20, 30, tzinfo=timezone(timedelta(hours=-5)))
    assert find_monday(late) == "2026-11-30"
    assert [find_monday(MONDAY + timedelta(days=days)) for days in (-1, 0, 6, 7)] == [
        *("2026-11-16", "2026-11-23", "2026-11-23", "2026-11-30")
    ]


def test_ninety_days_are_in_at_most_fourteen_weeks() -> None:
    until = [date(2026, 11, 23) + timedelta(days=days) for days in range(7)]
    assert {len(list_mondays(day - timedelta(days=89), day)) for day in until} == {13, 14}


@pytest.mark.parametrize("part", WeekPart)
def test_each_kind_of_rows_has_all_that_was_used(part: WeekPart) -> None:
    events = [draw_event(random.Random(number), number) for number in range(50)]
    rows = list(begin(part).add(events, now=MONDAY).read_rows())
    whole = sum_counts(event.count_all() for event in events)
    for kind in KINDS[part]:
        total = sum_counts(counts for _, of_kind, _, counts in rows if of_kind is kind)
        for name in ("calls", "failures", "latencies", "definition_tokens", "text_tokens", "api_call_fee", "storage_unmetered"):
            assert getattr(total, name) == getattr(whole, name)


def test_an_event_is_of_the_day_of_its_commit() -> None:
    events = [build_event(number, at=MONDAY + timedelta(days=number, hours=23, minutes=59)) for number in (0, 3)]
    days = [day for day, kind, _, _ in begin().add(events, now=MONDAY).read_rows() if kind is RowKind.AGENT]
    assert days == [find_day(event.at) for event in events] == ["2026-11-23", "2026-11-26"]


@pytest.mark.parametrize("part", WeekPart)
def test_events_may_come_in_any_order_and_in_any_pieces(part: WeekPart) -> None:
    events = [draw_event(random.Random(number), number) for number in range(40)]
    whole = begin(part).add(events, now=MONDAY)
    for seed in range(3):
        shuffled, week = random.Random(seed).sample(events, len(events)), begin(part)
        for index in range(0, len(events), 7):
            week = week.add(shuffled[index : index + 7], now=MONDAY)
        assert json.dumps(week.rows) == json.dumps(whole.rows)


def test_tools_beyond_the_bound_of_a_day_are_told_of_together() -> None:
    most = NAMES_MAX[RowKind.TOOL]
    calls = [replace(build_event().calls[0], tool=f"tool_{number}", credits=Decimal(1)) for number in range(10_000)]
    events = [build_event(call.tool, tools=(), calls=(call,)) for call in calls]
    rows = {name: counts for _, _, name, counts in begin(WeekPart.TOOLS).add(events, now=MONDAY).read_rows()}
    named = [name for name in rows if name not in UNBOUNDED]
    assert (len(named), rows[OTHER].calls) == (most, 10_000 - most)
    assert sum_counts(rows.values()).api_call_fee == 10_000


@pytest.mark.parametrize("part", WeekPart)
def test_the_largest_week_fits_into_a_document(part: WeekPart) -> None:
    largest = UsageCounts(
        turns=LARGE,
        usage=Usage(input_tokens=LARGE, output_tokens=LARGE, cache_read_tokens=LARGE, cache_write_tokens=LARGE),
        definition_tokens=LARGE,
        result_tokens=LARGE,
        call_tokens=LARGE,
        text_tokens=LARGE,
        calls=LARGE,
        failures=dict.fromkeys((*CODES, OTHER), LARGE),
        latencies=(LARGE,) * (len(BOUNDS_MS) + 1),
        llm_tokens=Decimal(LARGE) + Decimal("0.0000000001"),
        api_call_fee=Decimal(LARGE) + Decimal("0.0000000001"),
        embedding=Decimal(LARGE) + Decimal("0.0000000001"),
        storage_unmetered=LARGE,
    ).to_row()
    names = {kind: [*UNBOUNDED, *(f"{number:064}" for number in range(NAMES_MAX[kind]))] for kind in KINDS[part]}
    day = {kind.value: dict.fromkeys(names[kind], largest) for kind in KINDS[part]}
    rows = {f"2026-11-{number}": day for number in range(23, 30)}
    assert len(json.dumps(rows)) < DOCUMENT_BYTES_MAX
