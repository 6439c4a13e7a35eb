"""The queues in memory: what was enqueued waits until somebody takes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ferryman.domain.tasks.firing import Fire
from ferryman.ports.queue import NOW


@dataclass(frozen=True, slots=True)
class QueuedDelivery:
    """One slice of an execution that is to be delivered `after` so long."""

    execution: str
    slice: int
    after: timedelta
    nudge: str = ""
    waits: int = 0


class MemoryQueue:
    """`ports.Queue`. A name that was ever used is not used again, taken or not, as in Cloud Tasks."""

    def __init__(self) -> None:
        self._named: set[tuple[str, int, str, int]] = set()
        self._waiting: list[QueuedDelivery] = []

    async def enqueue(
        self,
        execution: str,
        *,
        slice: int,
        after: timedelta = NOW,
        nudge: str = "",
        waits: int = 0,
    ) -> None:
        if (execution, slice, nudge, waits) not in self._named:
            self._named.add((execution, slice, nudge, waits))
            self._waiting.append(QueuedDelivery(execution, slice, after, nudge, waits))

    def take(self) -> QueuedDelivery | None:
        """The delivery that has waited longest, taken out; None when none waits."""
        return self._waiting.pop(0) if self._waiting else None

    @property
    def waiting(self) -> tuple[QueuedDelivery, ...]:
        return tuple(self._waiting)


@dataclass(frozen=True, slots=True)
class QueuedTimer:
    """What is to be delivered at `due`: the time of a task, or, without one, the sweep."""

    fire: Fire | None
    due: datetime
    nudge: str = ""

    @property
    def name(self) -> tuple[object, ...]:
        return (self.fire and (self.fire.task, self.fire.generation), self.due, self.nudge)


class MemoryTimers:
    """`ports.Timers`. Its timers stand in `waiting` until they are `done`, and no name is used again, as in Cloud Tasks."""

    def __init__(self) -> None:
        self._named: set[tuple[object, ...]] = set()
        self.waiting: list[QueuedTimer] = []

    async def set(self, fire: Fire, *, due: datetime, nudge: str = "") -> None:
        self._put(QueuedTimer(fire, due, nudge))

    async def sweep(self, *, due: datetime) -> None:
        self._put(QueuedTimer(None, due))

    def next(self) -> QueuedTimer | None:
        """The timer that is due first; it stays until it is `done`."""
        return min(self.waiting, key=lambda timer: timer.due, default=None)

    def done(self, timer: QueuedTimer) -> None:
        """The timer was delivered, or has been lost."""
        self.waiting.remove(timer)

    def _put(self, timer: QueuedTimer) -> None:
        if timer.name not in self._named:
            self._named.add(timer.name)
            self.waiting.append(timer)
