"""Rolling up: which events one commit takes, and whether their weeks may be written now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from ferryman.domain.metering.event import UsageEvent
from ferryman.domain.metering.rounds import SPACING
from ferryman.domain.metering.week import UsageWeek, find_monday

EVENTS_MAX = 400
"""How many events one commit rolls up: they are deleted in it, and a commit of Firestore deletes no more than 500 for sure."""
WEEKS_MAX = 2
"""How many weeks one commit writes, of at most 1 MiB for each of their documents: a commit takes 10 MiB."""


def choose_weeks(events: Iterable[UsageEvent]) -> Mapping[str, list[UsageEvent]]:
    """Return the events that one commit takes, by the first day of their week: those of the first weeks that come."""
    chosen: dict[str, list[UsageEvent]] = {}
    for event in events:
        monday = find_monday(event.at)
        if monday in chosen or len(chosen) < WEEKS_MAX:
            chosen.setdefault(monday, []).append(event)
    return chosen


def is_too_soon(weeks: Iterable[UsageWeek], *, now: datetime) -> bool:
    """Tell whether one of the weeks was written so short a time ago that it is not to be written again.

    A time far ahead, of a clock that was wrong, holds nothing up.
    """
    return any(week.rows and abs(now - week.updated_at) < SPACING for week in weeks)
