"""The ports of scheduled tasks and of their timers."""

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
    """A task after one of its times was delivered, and the execution of that time; None where it does not exist.

    `replaced` tells that an application's document was in the place of the execution, whose delivery used up its name in the
    queue.
    """

    task: Task | None
    execution: Execution | None
    replaced: bool = False


class Schedules(Protocol):
    """The scheduled tasks.

    `fire` is one transaction: while the time is due and the task's next one, it creates the execution and moves the task to its
    next time, or pauses it; otherwise it changes nothing. It raises `HaltedError` when a kill switch stops a due one, and
    `TooManyQueuedError` while the owner has as many executions queued as the plan allows. `overdue` returns the times before
    `before` that were not fired, and `armed` whether any task waits for a time.
    """

    async def fire(self, fire: Fire, *, now: datetime) -> FiredSchedule: ...
    async def overdue(self, *, before: datetime) -> Sequence[Fire]: ...
    async def armed(self) -> bool: ...


class Timers(Protocol):
    """The schedules queue, at most 30 days ahead. The same timer set twice is set once; a `wake_up` names a further one."""

    async def set(self, fire: Fire, *, due: datetime, wake_up: str = "") -> None: ...
    async def sweep(self, *, due: datetime) -> None: ...
