"""The dependencies of the schedules: their ports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ferryman.ports.clock import Clock
from ferryman.ports.log import Tracer
from ferryman.ports.queue import Queue
from ferryman.ports.schedules import Schedules, Timers


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleDependencies:
    """Everything the schedules use. `queue` delivers executions, `timers` deliver the times."""

    schedules: Schedules
    queue: Queue
    timers: Timers
    clock: Clock
    tracer: Tracer

    def line(self, event: str, **fields: Any) -> None:
        self.tracer.line(event, **fields)
