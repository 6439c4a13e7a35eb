"""The queues in memory: what was enqueued waits until somebody takes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ferryman.domain.firing import Fire
from ferryman.ports import NOW


@dataclass(frozen=True, slots=True)
class Delivery:
    """One slice of an execution that is to be delivered `after` so long."""

    execution: str
    slice: int
    after: timedelta
    nudge: str = ""


class MemoryQueue:
    """`ports.Queue`. A name that was ever used is not used again, taken or not, as in Cloud Tasks."""

    def __init__(self) -> None:
        self._named: set[tuple[str, int, str]] = set()
        self._waiting: list[Delivery] = []

    async def enqueue(
        self,
        execution: str,
        *,
        slice: int,
        after: timedelta = NOW,
        nudge: str = "",
    ) -> None:
        if (execution, slice, nudge) not in self._named:
            self._named.add((execution, slice, nudge))
            self._waiting.append(Delivery(execution, slice, after, nudge))

    def take(self) -> Delivery | None:
        """The delivery that has waited longest, taken out; None when none waits."""
        return self._waiting.pop(0) if self._waiting else None

    @property
    def waiting(self) -> tuple[Delivery, ...]:
        return tuple(self._waiting)


@dataclass(frozen=True, slots=True)
class Timer:
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
        self.waiting: list[Timer] = []

    async def set(self, fire: Fire, *, due: datetime, nudge: str = "") -> None:
        self._put(Timer(fire, due, nudge))

    async def sweep(self, *, due: datetime) -> None:
        self._put(Timer(None, due))

    def next(self) -> Timer | None:
        """The timer that is due first; it stays until it is `done`."""
        return min(self.waiting, key=lambda timer: timer.due, default=None)

    def done(self, timer: Timer) -> None:
        """The timer was delivered, or has been lost."""
        self.waiting.remove(timer)

    def _put(self, timer: Timer) -> None:
        if timer.name not in self._named:
            self._named.add(timer.name)
            self.waiting.append(timer)
