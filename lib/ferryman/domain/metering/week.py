"""Weeks: the roll-ups of a workspace, each a document with a row for each day and name, bounded in size.

A week begins on Monday, at midnight UTC; the day of an event is that of its commit. The size of a document is bounded by how
many tools, models and agents a day tells of by name: what is beyond the bound is told of as `OTHER`, and no sum loses anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any

from ferryman.domain.copies import replace
from ferryman.domain.metering.counts import UsageCounts
from ferryman.domain.metering.event import UsageEvent
from ferryman.domain.metering.names import OTHER, TEXT, UNCALLED, UNKNOWN

UNBOUNDED = (TEXT, UNCALLED, UNKNOWN, OTHER)
"""The names that a day always has room for."""

RETENTION = timedelta(days=400)
"""How long a week is kept after its beginning."""


class RowKind(StrEnum):
    """What a row is told of by."""

    TOOL = "tool"
    MODEL = "model"
    AGENT = "agent"


class WeekPart(StrEnum):
    """The documents of a week."""

    TOOLS = "tools"
    MODELS = "models"
    """The models and the agents; the models of a day have all that it used."""


NAMES_MAX: Mapping[RowKind, int] = {RowKind.TOOL: 42, RowKind.MODEL: 18, RowKind.AGENT: 20}
"""How many names of each kind a day tells of."""

KINDS: Mapping[WeekPart, tuple[RowKind, ...]] = {
    WeekPart.TOOLS: (RowKind.TOOL,),
    WeekPart.MODELS: (RowKind.MODEL, RowKind.AGENT),
}

Rows = dict[str, dict[str, dict[str, UsageCounts]]]
"""Counts by day, kind and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageWeek:
    """One document of a week; `monday` is its first day, as in "2026-11-23", and `rows` its counts as JSON."""

    workspace: str
    monday: str
    part: WeekPart
    updated_at: datetime
    rows: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def begin(cls, workspace: str, monday: str, part: WeekPart) -> UsageWeek:
        """Return a week in which nothing was used."""
        return cls(workspace=workspace, monday=monday, part=part, updated_at=_start(monday))

    @property
    def id(self) -> str:
        return name_week(self.workspace, self.monday, self.part)

    @property
    def expires_at(self) -> datetime:
        return _start(self.monday) + RETENTION

    def read_rows(self) -> Iterator[tuple[str, RowKind, str, UsageCounts]]:
        """Yield the day, kind, name and counts of each row."""
        for day, kinds in self.rows.items():
            for kind, names in kinds.items():
                for name, row in names.items():
                    yield day, RowKind(kind), name, UsageCounts.from_row(row)

    def add(self, events: Iterable[UsageEvent], *, now: datetime) -> UsageWeek:
        """Return the week with `events` of its days added."""
        rows: Rows = {}
        for day, kind, name, counts in self.read_rows():
            rows.setdefault(day, {}).setdefault(kind.value, {})[name] = counts
        for event in events:
            for kind, name, counts in list_counts(event, self.part):
                _add_counts(rows, find_day(event.at), kind, name, counts)
        return replace(self, rows=_write_rows(rows), updated_at=now)


def find_day(moment: datetime) -> str:
    """Return the day of a moment, in UTC."""
    return moment.astimezone(UTC).date().isoformat()


def find_monday(moment: datetime | date) -> str:
    """Return the first day of the week of a moment or a day."""
    day = moment.astimezone(UTC).date() if isinstance(moment, datetime) else moment
    return (day - timedelta(days=day.weekday())).isoformat()


def list_mondays(since: date, until: date) -> list[str]:
    """Return the first days of the weeks of all days from `since` to `until`."""
    first = date.fromisoformat(find_monday(since))
    return [(first + timedelta(days=days)).isoformat() for days in range(0, (until - first).days + 1, 7)]


def list_kept_mondays(today: date) -> list[str]:
    """Return the first days of all weeks that are kept."""
    return list_mondays(today - RETENTION, today)


def name_week(workspace: str, monday: str, part: WeekPart) -> str:
    """Return the id of a document of a week; no workspace's id has a full stop."""
    return f"{workspace}.{monday}.{part.value}"


def list_counts(event: UsageEvent, part: WeekPart) -> Iterator[tuple[RowKind, str, UsageCounts]]:
    """Yield what an event adds to one document of its week."""
    if part is WeekPart.TOOLS:
        for name, counts in event.count_tools().items():
            yield RowKind.TOOL, name, counts
        return
    whole = event.count_all()
    yield RowKind.MODEL, event.model, whole
    yield RowKind.AGENT, event.agent, whole


def _start(monday: str) -> datetime:
    return datetime.combine(date.fromisoformat(monday), datetime.min.time(), UTC)


def _add_counts(rows: Rows, day: str, kind: RowKind, name: str, counts: UsageCounts) -> None:
    names = rows.setdefault(day, {}).setdefault(kind.value, {})
    if name not in names and name not in UNBOUNDED:
        bounded = sum(1 for known in names if known not in UNBOUNDED)
        name = name if bounded < NAMES_MAX[kind] else OTHER
    names[name] = names.get(name, UsageCounts()) + counts


def _write_rows(rows: Rows) -> dict[str, Any]:
    """Return the rows as JSON, in the order of their keys, so that the same sums are the same bytes."""
    return {
        day: {kind: {name: kinds[kind][name].to_row() for name in sorted(kinds[kind])} for kind in sorted(kinds)}
        for day, kinds in sorted(rows.items())
    }
