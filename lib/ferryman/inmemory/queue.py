"""The queues in memory: a delivery waits until it is taken."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from ferryman.domain.tasks.firing import Fire
from ferryman.ports.errors import UnavailableError
from ferryman.ports.queue import NOW


@dataclass(frozen=True, slots=True)
class QueuedDelivery:
    """A slice of an execution that is to be delivered `after` this time."""

    execution: str
    slice: int
    after: timedelta
    wake_up: str = ""
    waits: int = 0


class MemoryQueue:
    """`ports.Queue`. A name that was ever used is not used again, taken or not, as in Cloud Tasks."""

    def __init__(self) -> None:
        self._named: set[tuple[str, int, str, int]] = set()
        self._waiting: list[QueuedDelivery] = []

    async def enqueue(self, execution: str, *, slice: int, after: timedelta = NOW, wake_up: str = "", waits: int = 0) -> None:
        if (execution, slice, wake_up, waits) not in self._named:
            self._named.add((execution, slice, wake_up, waits))
            self._waiting.append(QueuedDelivery(execution, slice, after, wake_up, waits))

    def take(self) -> QueuedDelivery | None:
        """Remove the delivery that has waited longest, and return it; None when none waits."""
        return self._waiting.pop(0) if self._waiting else None

    @property
    def waiting(self) -> tuple[QueuedDelivery, ...]:
        return tuple(self._waiting)


@dataclass(frozen=True, slots=True)
class QueuedExpiry:
    """A delivery on `day`: a slice of the kept results of a workspace."""

    workspace: str
    owner: str
    day: date
    slice: int
    cursor: str


class MemoryKeptTimers:
    """`ports.KeptTimers`. Its timers are in `waiting` until they are removed; no name is used again, as in Cloud Tasks."""

    def __init__(self) -> None:
        self._named: set[tuple[object, ...]] = set()
        self.waiting: list[QueuedExpiry] = []
        self.is_away = False

    async def set(self, workspace: str, *, owner: str, day: date, slice: int = 0, cursor: str = "") -> None:
        if self.is_away:
            raise UnavailableError("the queue does not answer")
        if (workspace, day, slice) not in self._named:
            self._named.add((workspace, day, slice))
            self.waiting.append(QueuedExpiry(workspace, owner, day, slice, cursor))


@dataclass(frozen=True, slots=True)
class QueuedTimer:
    """A delivery at `due`: the time of a task, or, without one, the sweep."""

    fire: Fire | None
    due: datetime
    wake_up: str = ""

    @property
    def name(self) -> tuple[object, ...]:
        return (self.fire and (self.fire.task, self.fire.generation), self.due, self.wake_up)


class MemoryTimers:
    """`ports.Timers`. Its timers are in `waiting` until they are removed; no name is used again, as in Cloud Tasks."""

    def __init__(self) -> None:
        self._named: set[tuple[object, ...]] = set()
        self.waiting: list[QueuedTimer] = []

    async def set(self, fire: Fire, *, due: datetime, wake_up: str = "") -> None:
        self._put(QueuedTimer(fire, due, wake_up))

    async def sweep(self, *, due: datetime) -> None:
        self._put(QueuedTimer(None, due))

    def next(self) -> QueuedTimer | None:
        """Return the timer that is due first; it stays until it is removed."""
        return min(self.waiting, key=lambda timer: timer.due, default=None)

    def remove(self, timer: QueuedTimer) -> None:
        """Remove a timer that was delivered or lost."""
        self.waiting.remove(timer)

    def _put(self, timer: QueuedTimer) -> None:
        if timer.name not in self._named:
            self._named.add(timer.name)
            self.waiting.append(timer)
