"""Deliveries: turns are committed up to five times in any order, and rounds are delivered as often, to workers that die.

Nothing here waits: the clock is moved by hand, and chance is drawn from a seed.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta

from google.api_core.exceptions import AlreadyExists

from ferryman.domain.credits.ledger import record_turn
from ferryman.domain.executions.execution import Execution
from ferryman.domain.expense import CallExpense
from ferryman.domain.metering.event import UsageEvent, name_event
from ferryman.domain.metering.rollup import EVENTS_MAX
from ferryman.domain.metering.rounds import SPACING, find_round
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.usage import MemoryUsageQueue, QueuedRollUp
from ferryman.metering.roll_up import LATE, MeteringDependencies, deliver, sweep
from ferryman.ports.errors import UnavailableError
from ferryman.ports.executions import TurnCommit
from tests.campaigns.crash.jobs import Killed
from tests.campaigns.crash.points import Counting, Point, instrument
from tests.contracts.conftest import Stores
from tests.contracts.values import EXECUTION, OPENING, POLICY, TASK, open_workspaces, turn
from tests.metering.events import AGENTS, MONDAY, draw_event

WORKSPACE = "ws_1"
TURNS = 50
"""Of one execution."""
AGAIN_MAX = 5
"""How often anything is delivered, at most."""
KILLED = 0.1
"""The share of the points at which a worker dies."""
QUEUE_LOSES = 0.05
"""The share of the rounds that the queue loses."""
DAYS = 8
"""Of how many days the events are: the first of them are rolled up a week late."""
FOREVER = timedelta(days=365)


See = Callable[[Point], Awaitable[None]]


@dataclass(kw_only=True)
class Delivery:
    """One campaign on `stores`: `events` is how many turns there are, `random_` draws everything.

    The queue delivers rounds after each `between` deliveries of turns, and a slice takes at most `most` events.
    """

    stores: Stores
    events: int
    random_: random.Random
    between: int = 400
    most: int = EVENTS_MAX
    clock: ManualClock = field(default_factory=lambda: ManualClock(MONDAY + timedelta(days=DAYS)))
    queue: MemoryUsageQueue = field(default_factory=MemoryUsageQueue)
    drawn: list[UsageEvent] = field(default_factory=list)
    before_rounds: Callable[[], object] = lambda: None
    after_rounds: Callable[[], object] = lambda: None
    deaths: int = 0
    commits: int = 0
    rounds: int = 0
    lost: int = 0

    async def perform(self) -> None:
        """Commit and roll up until nothing is left of either."""
        turns = [item for number in range(-(-self.events // TURNS)) for item in await self._draw_execution(number)]
        pending = [item for item in turns[: self.events] for _ in range(self.random_.randint(1, AGAIN_MAX))]
        self.drawn = [commit.usage_event for _, commit in turns[: self.events] if commit.usage_event is not None]
        self.random_.shuffle(pending)
        for number, (execution, commit) in enumerate(pending):
            # a turn that is stored is not stored again, whoever sends it
            with suppress(ValueError, AlreadyExists):
                await self.stores.executions.commit(execution, commit, now=self.clock.now(), lease=FOREVER)
            self.commits += 1
            this_round, after = find_round(self.clock.now())
            await self.queue.enqueue(WORKSPACE, number=this_round, after=after)
            if number % self.between == self.between - 1:
                self.clock.turn(after)
                await self._deliver_waiting()
        while await self.stores.usage.list_events(WORKSPACE, most=1):
            await self._deliver_waiting()
            self.clock.turn(LATE + SPACING)
            with suppress(UnavailableError):
                await sweep(self._build_deps(None))
        await self._deliver_waiting()

    async def _draw_execution(self, number: int) -> list[tuple[Execution, TurnCommit]]:
        agent = self.random_.choice(AGENTS)
        execution = replace(EXECUTION, id=f"exec_{number:05}", workspace=WORKSPACE, agent=agent)
        if number == 0:
            await open_workspaces(self.stores, WORKSPACE)  # of an owner without a plan, who may have any number under way
            await self.stores.tasks.create(replace(TASK, workspace=WORKSPACE, agent=""))
        await self.stores.executions.start(execution, most=1_000_000)
        now = self.clock.now()
        claimed, _ = await self.stores.executions.claim(execution.id, slice=0, holder="h", now=now, lease=FOREVER)
        entry = replace(record_turn(execution, 0, tokens=OPENING.max_credits, at=now), postings=())
        opened = replace(claimed, policy=POLICY, events=1)
        await self.stores.executions.open(opened, replace(OPENING, max_credits=0), entry=entry, now=now)
        return [(opened, self._draw_turn(execution, step)) for step in range(1, TURNS + 1)]

    def _draw_turn(self, execution: Execution, number: int) -> TurnCommit:
        drawn = draw_event(self.random_, number, days=DAYS)
        event = replace(drawn, id=name_event(execution.id, number), workspace=WORKSPACE, agent=execution.agent)
        calls = [CallExpense(expense=call.expense, credits=call.credits, bytes=call.bytes) for call in event.calls]
        entry = record_turn(execution, number, tokens=event.llm_tokens, calls=calls, at=event.at)
        return replace(turn(number, calls=0), entry=entry, usage_event=event)

    async def _deliver_waiting(self) -> None:
        """Deliver what the queue has until nothing waits: each up to five times, several at once, again where it failed."""
        self.before_rounds()
        while self.queue.queued:
            waiting, self.queue.queued = self.queue.queued, []
            self.random_.shuffle(waiting)
            for item in waiting:
                if self.random_.random() < QUEUE_LOSES:
                    self.lost += 1
                    continue
                self.clock.turn(item.after)
                await self._deliver_often(item)
        self.after_rounds()

    async def _deliver_often(self, item: QueuedRollUp) -> None:
        delivered = False
        while not delivered:
            times = self.random_.randint(1, AGAIN_MAX)
            delivered = any(await asyncio.gather(*(self._deliver(item) for _ in range(times))))

    async def _deliver(self, item: QueuedRollUp) -> bool:
        self.rounds += 1
        try:
            return await deliver(self._build_deps(self._meet), item.workspace, number=item.number, slice=item.slice)
        except Killed:
            self.deaths += 1
            return False

    def _build_deps(self, see: See | None) -> MeteringDependencies:
        parts = {"usage": self.stores.usage, "queue": self.queue, "clock": self.clock, "tracer": RecordingLog()}
        deps = MeteringDependencies(**parts, most=self.most)  # type: ignore[arg-type] # each is what its name says
        return deps if see is None else instrument(deps, Counting("worker", see))

    async def _meet(self, _: Point) -> None:
        if self.random_.random() < KILLED:
            raise Killed
