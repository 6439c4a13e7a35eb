"""The dashboard: how many documents a page with all that was used in 90 days reads."""

from __future__ import annotations

from datetime import date, timedelta

from ferryman.domain.metering.report import UsageGrouping, build_report, list_days
from ferryman.domain.metering.week import WeekPart, list_mondays
from tests.campaigns.metering.counted import CountingInterceptor
from tests.contracts.conftest import on_google_cloud

DASHBOARD_DAYS = 90


async def count_reads() -> int:
    """Return the documents that the store is asked for, on the weekday that needs most of them."""
    counted, most = CountingInterceptor(), 0
    async with on_google_cloud(counted) as stores:
        for number in range(7):
            today = date(2026, 11, 23) + timedelta(days=number)
            days = list_days(today - timedelta(days=DASHBOARD_DAYS - 1), today, today=today)
            mondays = list_mondays(days[0], days[-1])
            before = counted.reads
            weeks = [week for part in WeekPart for week in await stores.usage.list_weeks("ws_1", mondays=mondays, part=part)]
            assert build_report(weeks, days, by=UsageGrouping.ALL) == []
            most = max(most, counted.reads - before)
    return most
