"""Usage over HTTP: counts, failures, durations and tokens of a workspace, from the weeks that they are rolled up into."""

from __future__ import annotations

import re
from datetime import UTC, date
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BeforeValidator

from ferryman.domain.metering.latency import BOUNDS_MS
from ferryman.domain.metering.report import DAYS_MAX, UsageGrouping, build_report, list_days, sum_rows
from ferryman.domain.metering.week import list_mondays
from ferryman.serving.api.access import Dependencies, Reader
from ferryman.serving.api.shapes import usage as shapes

router = APIRouter(prefix="/v1", tags=["usage"])


def check_day(value: Any) -> Any:
    """Return a day as it came. Raise ValueError for seconds since 1970, which would be taken for one."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value) is None:
        raise ValueError("must be a day like 2026-11-30")
    return value


Day = Annotated[date | None, BeforeValidator(check_day)]


@router.get("/usage", summary="What the workspace used on some days, by tool, model, agent or day")
async def get_usage(
    deps: Dependencies,
    caller: Reader,
    since: Annotated[Day, Query(description="The first day (UTC); without it, 29 days before the last")] = None,
    until: Annotated[Day, Query(description=f"The last day, at most {DAYS_MAX - 1} later; without it, today")] = None,
    by: Annotated[UsageGrouping, Query(description="all: by each of the others, in one answer")] = UsageGrouping.TOOL,
) -> shapes.UsageReport:
    days = list_days(since, until, today=deps.clock.now().astimezone(UTC).date())
    mondays = list_mondays(days[0], days[-1])
    weeks = [week for part in by.parts for week in await deps.usage.list_weeks(caller.workspace, mondays=mondays, part=part)]
    rows = build_report(weeks, days, by=by)
    return shapes.UsageReport(
        since=days[0],
        until=days[-1],
        by=by,
        rows=tuple(map(shapes.UsageRowResponse.model_validate, rows)),
        total=shapes.UsageCountsResponse.model_validate(sum_rows(rows)),
        latency_bounds_ms=BOUNDS_MS,
    )
