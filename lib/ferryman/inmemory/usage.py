"""Usage in memory, and the queue of roll-ups."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ferryman.domain.metering.event import UsageEvent
from ferryman.domain.metering.rollup import choose_weeks, is_too_soon
from ferryman.domain.metering.week import UsageWeek, WeekPart, name_week
from ferryman.inmemory.memory import MemoryStore
from ferryman.ports.errors import UnavailableError
from ferryman.ports.metering import RollUp
from ferryman.ports.queue import NOW


class MemoryUsage(MemoryStore):
    """`ports.UsageStore`."""

    async def roll_up(self, workspace: str, *, most: int, now: datetime) -> RollUp:
        events = await self.list_events(workspace, most=most)
        chosen = choose_weeks(events)
        stored = self._memory.usage
        begun = [UsageWeek.begin(workspace, monday, part) for monday in chosen for part in WeekPart]
        weeks = [stored.get(week.id, week) for week in begun]
        if is_too_soon(weeks, now=now):
            return RollUp(events=0, more=True)
        after = [week.add(chosen[week.monday], now=now) for week in weeks]
        rolled_up = [event.id for of_week in chosen.values() for event in of_week]
        stored.update((week.id, week) for week in after)
        for name in rolled_up:
            del self._memory.usage_events[name]
        return RollUp(events=len(rolled_up), more=len(events) == most or len(rolled_up) < len(events))

    async def list_weeks(self, workspace: str, *, mondays: Collection[str], part: WeekPart) -> Sequence[UsageWeek]:
        names = [name_week(workspace, monday, part) for monday in mondays]
        return [self._memory.usage[name] for name in names if name in self._memory.usage]

    async def list_late(self, *, before: datetime, most: int) -> Sequence[str]:
        late = sorted((event for event in self._memory.usage_events.values() if event.at < before), key=lambda event: event.at)
        return list(dict.fromkeys(event.workspace for event in late[:most]))

    async def list_events(self, workspace: str, *, most: int) -> Sequence[UsageEvent]:
        known = sorted(self._memory.usage_events.items())
        return [event for _, event in known if event.workspace == workspace][:most]


@dataclass(frozen=True, slots=True)
class QueuedRollUp:
    """One delivery of the queue."""

    workspace: str
    number: int
    slice: int
    after: timedelta


@dataclass(slots=True)
class MemoryUsageQueue:
    """`ports.UsageQueue`. A name that was ever used is not used again, taken or not, as in Cloud Tasks.

    One that `is_away` raises `UnavailableError`.
    """

    queued: list[QueuedRollUp] = field(default_factory=list)
    is_away: bool = False
    names: set[tuple[str, int, int]] = field(default_factory=set)

    async def enqueue(self, workspace: str, *, number: int, slice: int = 0, after: timedelta = NOW) -> None:
        if self.is_away:
            raise UnavailableError("the queue does not answer")
        if (workspace, number, slice) not in self.names:
            self.names.add((workspace, number, slice))
            self.queued.append(QueuedRollUp(workspace, number, slice, after))
