"""A small plot of days, drawn by the server: bars as numbers, which a template writes as SVG attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

STEP = 20
BAR = 14
HEIGHT = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class DayBar:
    """A day, its credits as the API writes them, and its place in the plot, in the units of the plot's view box."""

    day: str
    credits: str
    x: int
    y: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Bars of days, the first one on the left."""

    bars: tuple[DayBar, ...]
    width: int
    height: int = HEIGHT
    bar: int = BAR


def build_plot(usage: Mapping[str, Any]) -> Plot:
    """Return the plot of a report of usage by day: a day without a row has no credits."""
    spent = {row["name"]: row["counts"]["credits"] for row in usage["rows"]}
    since, until = date.fromisoformat(usage["since"]), date.fromisoformat(usage["until"])
    days = [(since + timedelta(days=number)).isoformat() for number in range((until - since).days + 1)]
    most = max((Decimal(amount) for amount in spent.values()), default=Decimal(0))
    bars = []
    for number, day in enumerate(days):
        amount = spent.get(day, "0")
        height = int(Decimal(amount) * (HEIGHT - 4) / most) if most else 0
        # a day on which anything was spent is seen
        height = max(height, 1) if Decimal(amount) else 0
        bars.append(DayBar(day=day, credits=amount, x=number * STEP, y=HEIGHT - height, height=height))
    return Plot(bars=tuple(bars), width=len(days) * STEP)
