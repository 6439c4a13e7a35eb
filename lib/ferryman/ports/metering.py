"""The ports of metering: the events that are to be rolled up, the weeks that they are rolled up into, and the queue."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from ferryman.domain.metering.event import UsageEvent
from ferryman.domain.metering.week import UsageWeek, WeekPart
from ferryman.ports.queue import NOW


@dataclass(frozen=True, slots=True, kw_only=True)
class RollUp:
    """How many events one commit has rolled up, and whether there may be more; none where a week was written just before."""

    events: int
    more: bool


class UsageStore(Protocol):
    """The usage of workspaces. Events come with the commits of executions (`TurnCommit`).

    `roll_up` adds at most `most` events of a workspace to its weeks and deletes them, in one transaction: an event is in the
    weeks exactly once, however many roll up at once, and however often. A week is not written again before `SPACING` is over.
    `list_weeks` returns the documents of the weeks that begin on `mondays`; there is none where nothing was used. `list_late`
    returns workspaces with events from before a moment. `list_events` returns those that are not in the weeks yet.
    """

    async def roll_up(self, workspace: str, *, most: int, now: datetime) -> RollUp: ...
    async def list_weeks(self, workspace: str, *, mondays: Collection[str], part: WeekPart) -> Sequence[UsageWeek]: ...
    async def list_late(self, *, before: datetime, most: int) -> Sequence[str]: ...
    async def list_events(self, workspace: str, *, most: int) -> Sequence[UsageEvent]: ...


class UsageQueue(Protocol):
    """The queue of roll-ups. Enqueuing the same workspace, round and slice twice enqueues once."""

    async def enqueue(self, workspace: str, *, number: int, slice: int = 0, after: timedelta = NOW) -> None: ...
