"""Roll-ups while processes die: the rounds of a workspace from the first to the last, with a death at a chosen point.

A process that dies stops at that line, by an exception that nothing catches; the store and the queue remember what they took.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from ferryman.domain.metering.rounds import SPACING
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.usage import MemoryUsageQueue
from ferryman.metering.roll_up import LATE, MeteringDependencies, deliver, sweep
from ferryman.ports.errors import UnavailableError
from tests.campaigns.crash.jobs import Killed
from tests.campaigns.crash.points import Counting, Point, instrument
from tests.campaigns.metering.judge import find_wrong_rows
from tests.contracts.conftest import Stores
from tests.contracts.test_usage import AFTER, EVENTS, store

DELIVERIES_MAX = 60
WORKER = "worker"


@dataclass(kw_only=True)
class RollUpRun:
    """One run in this process. `target` is where it dies, or is answered by nobody (`lost`), once; `passed` are all points.

    `begins` is called before the first round, `ends` after the last one.
    """

    stores: Stores
    target: Point | None = None
    lost: bool = False
    together: int = 1
    clock: ManualClock = field(default_factory=lambda: ManualClock(AFTER))
    queue: MemoryUsageQueue = field(default_factory=MemoryUsageQueue)
    passed: list[Point] = field(default_factory=list)
    hit: bool = False
    begins: Callable[[], None] = lambda: None
    ends: Callable[[], None] = lambda: None

    async def perform(self) -> list[str]:
        """Store events, and deliver rounds until nothing waits; return what is not as it has to be."""
        await store(self.stores, EVENTS)
        await self.queue.enqueue("ws_1", number=1)
        deps = instrument(self._build_deps(), Counting(WORKER, self._meet))
        self.begins()
        for _ in range(DELIVERIES_MAX):
            if not self.queue.queued:
                break
            first = self.queue.queued[0]
            self.clock.turn(SPACING)
            if any(await asyncio.gather(*(self._deliver(deps, first.number, first.slice) for _ in range(self.together)))):
                self.queue.queued.remove(first)
        self.ends()
        self.clock.turn(LATE)
        await sweep(self._build_deps())
        swept = [item for item in self.queue.queued if item.number != 1]
        findings = [f"left: the sweep has found {item.workspace}" for item in swept]
        return findings + await find_wrong_rows(self.stores, EVENTS)

    async def _deliver(self, deps: MeteringDependencies, number: int, slice: int) -> bool:
        try:
            return await deliver(deps, "ws_1", number=number, slice=slice)
        except Killed:
            return False

    def _build_deps(self) -> MeteringDependencies:
        return MeteringDependencies(usage=self.stores.usage, queue=self.queue, clock=self.clock, tracer=RecordingLog(), most=2)

    async def _meet(self, point: Point) -> None:
        self.passed.append(point)
        if point == self.target and not self.hit:
            self.hit = True
            if self.lost:
                raise UnavailableError("the answer was lost", lost=True)
            raise Killed
