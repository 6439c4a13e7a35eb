"""The executions queue in memory: what was enqueued waits until somebody takes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

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
        slice: int,  # noqa: A002 - the field's own word
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
