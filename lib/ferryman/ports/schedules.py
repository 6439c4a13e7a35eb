"""The ports of scheduled tasks and of the timers that bring their times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ferryman.domain.executions.execution import Execution
from ferryman.domain.tasks.firing import Fire
from ferryman.domain.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class FiredSchedule:
    """A task after one of its times was delivered, and the execution that time has made, now or before. None: not there."""

    task: Task | None
    execution: Execution | None


class Schedules(Protocol):
    """The scheduled tasks.

    `fire` has a time come true in one transaction: once it is due, and only while it is the task's next one, it makes the
    execution and moves the task to its next time, or pauses it; at any other moment it changes nothing. It raises `HaltedError`
    when a kill switch keeps a due one from starting, and `TooManyQueuedError` while its owner has as many executions queued as
    the plan allows. `overdue` answers the times before `before` that have not come true, and
    `armed` whether any task waits for one.
    """

    async def fire(self, fire: Fire, *, now: datetime) -> FiredSchedule: ...
    async def overdue(self, *, before: datetime) -> Sequence[Fire]: ...
    async def armed(self) -> bool: ...


class Timers(Protocol):
    """The schedules queue, at most 30 days ahead. The same timer set twice is set once; with a `nudge` it is one more."""

    async def set(self, fire: Fire, *, due: datetime, nudge: str = "") -> None: ...
    async def sweep(self, *, due: datetime) -> None: ...
