"""`ferryman usage`: calls, failures, durations, tokens and credits of a workspace, with a line that shows each day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from ferryman.cli.commands import ApiSession, api_command
from ferryman.domain.metering.report import DAYS, DAYS_MAX, UsageGrouping

BLOCKS = "·▁▂▃▄▅▆▇█"
"""Nothing, and eight heights."""
ASCII_BLOCKS = "_.:-=+*#@"
"""In place of `BLOCKS`, where the terminal shows no Unicode."""
POINTS_MAX = 30
"""How many characters a line of days has; where there are more days, each shows as many of them as it has to."""


@click.command()
@click.option(
    "--days", type=click.IntRange(1, DAYS_MAX), default=DAYS, show_default=True, help="How many days, up to today (UTC)."
)
@click.option(
    "--by",
    type=click.Choice([by.value for by in UsageGrouping if by is not UsageGrouping.ALL]),
    default=UsageGrouping.TOOL.value,
    show_default=True,
    help="What to sum up by.",
)
@api_command
async def usage(session: ApiSession, days: int, by: str) -> None:
    """Show calls, failures, durations, tokens and credits of the workspace, the most expensive first, or day by day.

    Tokens of a tool are those of its definition, its results and its calls: shares of what the provider counted, by
    characters. What is used shows some seconds later.
    """
    today = datetime.now(UTC).date()
    report = await session.client.get_usage(
        since=(today - timedelta(days=days - 1)).isoformat(), until=today.isoformat(), by=by
    )
    session.screen.print_json(report)
    rows = [build_row(row, by, is_unicode=session.screen.is_unicode) for row in report["rows"]]
    amount = name_credits(by)
    columns = (by, "calls", "failed", "p50_ms", "p95_ms", "tokens", amount, *(("days",) if by != "day" else ()))
    period = f"{report['since']} to {report['until']}"
    session.screen.print_table(rows, *columns, empty=f"Nothing was used from {period}.")
    if rows:
        session.screen.print_line(f"{period}: {describe_total(report['total'], by)}")


def build_row(row: Mapping[str, Any], by: str, *, is_unicode: bool) -> dict[str, Any]:
    """Return a row of the table; its line shows the calls of each day, of a model or an agent the tokens."""
    counts = row["counts"]
    by_day = row["calls_by_day"] if by == "tool" and counts["calls"] else row["tokens_by_day"]
    return {
        **{by: row["name"], "calls": counts["calls"], "failed": row["failed"], "tokens": sum_tokens(counts)},
        **{"p50_ms": row["p50_ms"], "p95_ms": row["p95_ms"], name_credits(by): counts["credits"]},
        "days": draw_line(by_day, is_unicode=is_unicode),
    }


def sum_tokens(counts: Mapping[str, Any]) -> int:
    """Return all tokens of a row."""
    return sum(int(counts[f"{name}_tokens"]) for name in ("definition", "result", "call", "text"))


def name_credits(by: str) -> str:
    """Return what the credits of a row are: of a tool the fees of its calls, since tokens are paid for by turn."""
    return "fees" if by == UsageGrouping.TOOL else "credits"


def describe_total(total: Mapping[str, Any], by: str) -> str:
    """Return the sums of a report in a few words."""
    failed = sum(total["failures"].values())
    paid_for = " of fees" if by == UsageGrouping.TOOL else ""
    counted = f"{total['calls']:,} calls, {failed:,} failed; {sum_tokens(total):,} tokens"
    return f"{counted}; {total['credits']} credits{paid_for}"


def draw_line(values: Sequence[int], *, is_unicode: bool) -> str:
    """Return a line with a character for each value, or for as many of them together as there is room for."""
    width = -(-len(values) // POINTS_MAX) or 1
    points = [sum(values[start : start + width]) for start in range(0, len(values), width)]
    nothing, *heights = list(BLOCKS if is_unicode else ASCII_BLOCKS)
    most = max(points, default=0)
    return "".join(heights[(len(heights) * point - 1) // most] if point else nothing for point in points)
