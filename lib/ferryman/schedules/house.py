"""What the firing of schedules is given: the ports it speaks to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ferryman import ports


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Everything around it. `queue` takes the executions, `timers` bring the times."""

    schedules: ports.Schedules
    queue: ports.Queue
    timers: ports.Timers
    clock: ports.Clock
    tracer: ports.Tracer

    def line(self, event: str, **fields: Any) -> None:
        self.tracer.line(event, **fields)
