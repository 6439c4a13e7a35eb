"""Usage over HTTP: what the workspace used, and nothing of another's."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from ferryman.domain.metering.latency import BOUNDS_MS
from ferryman.domain.metering.report import ROWS_MAX
from ferryman.domain.metering.week import NAMES_MAX, RowKind, UsageWeek, WeekPart, find_monday
from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.names import derive_default_workspace
from tests.builders import START
from tests.metering.events import build_event, draw_event, sum_counts

from .conftest import Stage

HERE = derive_default_workspace("ann")
TODAY = START.date().isoformat()


def use(stage: Stage, *events: Any, workspace: str = HERE) -> None:
    """Have the workspace used these, rolled up."""
    for part in WeekPart:
        for event in events:
            begun = UsageWeek.begin(workspace, find_monday(event.at), part)
            stage.memory.usage[begun.id] = stage.memory.usage.get(begun.id, begun).add([event], now=START)


async def read(client: httpx.AsyncClient, headers: Any = None, **params: str) -> Any:
    answer = await client.get("/v1/usage", params=params, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_where_nothing_was_used_there_is_no_row(client: httpx.AsyncClient) -> None:
    report = await read(client)
    assert (report["rows"], report["total"]["calls"], report["total"]["credits"]) == ([], 0, "0")
    assert (report["until"], report["by"], report["latency_bounds_ms"]) == (TODAY, "tool", list(BOUNDS_MS))


@pytest.mark.parametrize("by", ["tool", "model", "agent", "day"])
async def test_each_grouping_has_all_that_was_used(client: httpx.AsyncClient, stage: Stage, by: str) -> None:
    drawn = [draw_event(random.Random(number), number) for number in range(30)]
    events = [replace(event, at=START - timedelta(days=number)) for number, event in enumerate(drawn)]
    use(stage, *events)
    report, whole = await read(client, by=by), sum_counts(event.count_all() for event in events)
    total = report["total"]
    assert (total["calls"], total["failures"], total["latencies"]) == (whole.calls, dict(whole.failures), list(whole.latencies))
    tokens = sum(total[f"{name}_tokens"] for name in ("definition", "result", "call", "text"))
    assert tokens == whole.tokens
    expected = whole.credits - (whole.llm_tokens if by == "tool" else 0)
    assert Decimal(total["credits"]) == sum(Decimal(row["counts"]["credits"]) for row in report["rows"]) == expected
    assert sum(sum(row["calls_by_day"]) for row in report["rows"]) == whole.calls


async def test_a_row_has_its_calls_by_day_and_the_bounds_of_how_long_they_took(client: httpx.AsyncClient, stage: Stage) -> None:
    use(stage, build_event(1, at=START), build_event(2, at=START - timedelta(days=1)), build_event(3, at=START))
    (row, *_) = (await read(client, since=(START - timedelta(days=2)).date().isoformat()))["rows"]
    assert (row["name"], row["calls_by_day"], row["p50_ms"], row["p95_ms"], row["failed"]) == ("http_get", [0, 1, 2], 25, 25, 0)


async def test_the_days_that_are_told_are_the_only_ones_in_it(client: httpx.AsyncClient, stage: Stage) -> None:
    days = [START - timedelta(days=number) for number in range(4)]
    use(stage, *(build_event(number, at=day) for number, day in enumerate(days)))
    report = await read(client, by="day", since=days[2].date().isoformat(), until=days[1].date().isoformat())
    assert [row["name"] for row in report["rows"]] == [day.date().isoformat() for day in (days[2], days[1])]


async def test_nothing_of_another_workspace_is_told(client: httpx.AsyncClient, stage: Stage) -> None:
    use(stage, build_event(1, at=START), workspace="ws_other")
    use(stage, build_event(2, at=START), workspace=derive_default_workspace("bob"))
    assert (await read(client))["rows"] == []
    assert len((await read(client, stage.owner("bob")))["rows"]) == 2


async def test_who_may_read_the_workspace_may_read_its_usage(client: httpx.AsyncClient, stage: Stage) -> None:
    use(stage, build_event(1, at=START))
    assert len((await read(client, stage.member(Role.VIEWER)))["rows"]) == 2
    assert (await client.get("/v1/usage", headers={"Authorization": "Bearer fm_unknown"})).status_code == 401


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"since": "2026-08-21", "until": "2026-11-21"}, "since"),
        ({"since": "2026-11-22", "until": "2026-11-21"}, "since"),
        ({"until": "0001-01-01"}, "until"),
        ({"since": "yesterday"}, "since"),
        ({"until": "1"}, "until"),
        ({"by": "prompt"}, "by"),
        ({"until": "0"}, "until"),
        ({"since": "1795500000"}, "since"),
    ],
)
async def test_a_period_or_a_grouping_that_there_is_not_is_refused_by_name(
    client: httpx.AsyncClient, params: dict[str, str], field: str
) -> None:
    answer = await client.get("/v1/usage", params=params)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)


def use_many_tools(stage: Stage) -> int:
    """Have as many tools used as the days have names for, more than a report has rows; return their number."""
    (call,), names, days = build_event().calls, NAMES_MAX[RowKind.TOOL], ROWS_MAX // NAMES_MAX[RowKind.TOOL] + 1
    for number in range(days):
        calls = [replace(call, tool=f"tool_{number}_{index}") for index in range(names)]
        use(stage, build_event(number, at=START - timedelta(days=number), tools=(), text_tokens=0, calls=tuple(calls)))
    return names * days


async def test_names_beyond_the_rows_of_a_report_are_told_of_together(client: httpx.AsyncClient, stage: Stage) -> None:
    tools = use_many_tools(stage)
    rows = (await read(client))["rows"]
    assert (len(rows), rows[-1]["name"], rows[-1]["counts"]["calls"]) == (ROWS_MAX + 1, "(other)", tools - ROWS_MAX)


async def test_what_has_no_name_is_told_once_beyond_the_rows(client: httpx.AsyncClient, stage: Stage) -> None:
    tools = use_many_tools(stage)
    late = replace(build_event().calls[0], tool="late", credits=Decimal(0))
    use(stage, build_event(tools, at=START, tools=(), text_tokens=0, calls=(late,)))
    rows = (await read(client))["rows"]
    assert (rows[-1]["name"], rows[-1]["counts"]["calls"]) == ("(other)", tools - ROWS_MAX + 1)


async def test_all_of_it_is_told_in_one_answer(client: httpx.AsyncClient, stage: Stage) -> None:
    use(stage, *(build_event(number, at=START - timedelta(days=number)) for number in range(3)))
    whole = await read(client, by="all")
    for by in ("tool", "model", "agent", "day"):
        assert [row for row in whole["rows"] if row["by"] == by] == (await read(client, by=by))["rows"]
    assert whole["total"] == (await read(client, by="day"))["total"]
