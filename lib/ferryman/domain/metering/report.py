"""Reports: what a workspace used on some days, by tool, model, agent or day, from its weeks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from ferryman.domain.metering.counts import UsageCounts
from ferryman.domain.metering.latency import find_quantile
from ferryman.domain.metering.names import OTHER
from ferryman.domain.metering.week import RowKind, UsageWeek, WeekPart
from ferryman.domain.problem import build_input_error

DAYS = 30
"""How many days a report is of, unless it is told."""
DAYS_MAX = 92
"""The most: of so many days there are at most 14 weeks."""
ROWS_MAX = 100
"""How many rows a report has, besides one of all others."""


class UsageGrouping(StrEnum):
    """By what a report sums up."""

    TOOL = "tool"
    MODEL = "model"
    AGENT = "agent"
    DAY = "day"
    ALL = "all"
    """By each of the others, one after the other: all that a page of usage shows."""

    @property
    def parts(self) -> tuple[WeekPart, ...]:
        """The documents of the weeks that have its rows."""
        if self is UsageGrouping.ALL:
            return tuple(WeekPart)
        return (WeekPart.TOOLS,) if self is UsageGrouping.TOOL else (WeekPart.MODELS,)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """The counts under one name, with the calls and the tokens of each day."""

    by: UsageGrouping
    name: str
    counts: UsageCounts
    calls_by_day: tuple[int, ...]
    tokens_by_day: tuple[int, ...]

    @property
    def failed(self) -> int:
        """The calls that failed."""
        return sum(self.counts.failures.values())

    @property
    def p50_ms(self) -> int | None:
        """The time that half of the calls took at most, as the bound of its bucket."""
        return find_quantile(self.counts.latencies, 0.5)

    @property
    def p95_ms(self) -> int | None:
        """The time that 95 of a hundred calls took at most, likewise."""
        return find_quantile(self.counts.latencies, 0.95)


def list_days(since: date | None, until: date | None, *, today: date) -> list[date]:
    """Return the days of a report, in order: the last 30 unless they are told. Raise `InvalidInputError`."""
    last = today if until is None else until
    try:
        first = last - timedelta(days=DAYS - 1) if since is None else since
    except OverflowError:
        raise build_input_error("until", "must be later") from None
    count = (last - first).days + 1
    if not 1 <= count <= DAYS_MAX:
        raise build_input_error("since", f"must be 0 to {DAYS_MAX - 1} days before until")
    return [first + timedelta(days=number) for number in range(count)]


def build_report(weeks: Sequence[UsageWeek], days: Sequence[date], *, by: UsageGrouping) -> list[UsageRow]:
    """Return the rows of a report: days in their order, anything else by credits, tokens and calls, the most first."""
    if by is not UsageGrouping.ALL:
        return _build_group(weeks, days, by)
    groupings = (grouping for grouping in UsageGrouping if grouping is not UsageGrouping.ALL)
    return [row for grouping in groupings for row in _build_group(weeks, days, grouping)]


def _build_group(weeks: Iterable[UsageWeek], days: Iterable[date], by: UsageGrouping) -> list[UsageRow]:
    names = [day.isoformat() for day in days]
    known, rows = frozenset(names), dict[str, dict[str, UsageCounts]]()
    kind = RowKind.MODEL if by is UsageGrouping.DAY else RowKind(by.value)
    for week in weeks:
        for day, of_kind, name, counts in week.read_rows():
            if of_kind is kind and day in known:
                of_name = rows.setdefault(day if by is UsageGrouping.DAY else name, {})
                of_name[day] = of_name.get(day, UsageCounts()) + counts
    if by is UsageGrouping.DAY:
        return [_build_row(by, day, rows[day], names) for day in names if day in rows]
    built = [_build_row(by, name, by_day, names) for name, by_day in rows.items()]
    built.sort(key=lambda row: (-row.counts.credits, -row.counts.tokens, -row.counts.calls, row.name))
    if len(built) <= ROWS_MAX:
        return built
    rest: dict[str, UsageCounts] = {}
    for row in built[ROWS_MAX:]:
        for day, counts in rows[row.name].items():
            rest[day] = rest.get(day, UsageCounts()) + counts
    named = [row for row in built[:ROWS_MAX] if row.name != OTHER]
    for day, counts in rows.get(OTHER, {}).items() if len(named) < ROWS_MAX else ():
        rest[day] = rest.get(day, UsageCounts()) + counts
    return [*named, _build_row(by, OTHER, rest, names)]


def sum_rows(rows: Iterable[UsageRow]) -> UsageCounts:
    """Return the sum of all rows; of each day, where they are by everything."""
    known = list(rows)
    is_all = len({row.by for row in known}) > 1
    return sum((row.counts for row in known if not is_all or row.by is UsageGrouping.DAY), UsageCounts())


def _build_row(by: UsageGrouping, name: str, by_day: Mapping[str, UsageCounts], days: Iterable[str]) -> UsageRow:
    known = [by_day.get(day, UsageCounts()) for day in days]
    return UsageRow(
        by=by,
        name=name,
        counts=sum(by_day.values(), UsageCounts()),
        calls_by_day=tuple(counts.calls for counts in known),
        tokens_by_day=tuple(counts.tokens for counts in known),
    )
