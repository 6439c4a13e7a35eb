"""Deaths in memory: whoever is killed stops at that line, by an exception that nothing catches; the doubles remember."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

from ferryman.domain.call import ToolCallResult
from ferryman.domain.execution import Execution
from ferryman.domain.http import REQUEST_SECONDS
from ferryman.domain.message import Block
from ferryman.domain.refusal import Refused
from ferryman.local.clock import HandClock
from ferryman.local.executions import MemoryExecutions
from ferryman.local.halts import MemoryHalts
from ferryman.local.ledger import MemoryLedger
from ferryman.local.memory import Memory
from ferryman.local.owners import MemoryOwners
from ferryman.local.queue import MemoryQueue
from ferryman.local.tasks import MemoryCredentials, MemoryTasks
from ferryman.local.tickets import MemoryTickets
from ferryman.loop.run import deliver
from ferryman.ports import Rejected, Stale, Summons, Unavailable
from ferryman.tools.carry import ToolHouse, carry, look_through
from tests.crash.bars import Asked, Effect, Record
from tests.crash.driver import DELIVERIES_MAX, Task, drive
from tests.crash.ground import Ports, Wireless, furnish, loop_house, tool_house, unsealed
from tests.crash.points import ALONE, BOTH, ORCHESTRATOR, OTHER, SCANNER, TOOL, Counting, Point
from tests.crash.stories import Story

AWAY = "away"
"""A way to fail that nobody dies of: the call is not answered, before or after it was carried out."""

FROZEN = "frozen"
"""Nobody dies: whoever is there stands still until another has brought the execution to its end."""


FREEZE = timedelta(seconds=REQUEST_SECONDS + 10)
"""Longer than a lease, and than a call may be under way."""


class Killed(BaseException):
    """The process is gone."""


@dataclass
class KeptTally:
    """`Tally` in memory."""

    lines: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def add(self, kind: str, **line: Any) -> None:
        self.lines.append((kind, line))

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [line for each, line in self.lines if each == kind]


def memory_ports(memory: Memory) -> Ports:
    return Ports(
        owners=MemoryOwners(memory),
        tasks=MemoryTasks(memory),
        credentials=MemoryCredentials(memory),
        executions=MemoryExecutions(memory),
        tickets=MemoryTickets(memory),
        halts=MemoryHalts(memory),
        ledger=MemoryLedger(memory),
    )


@dataclass(kw_only=True)
class Play:
    """One run of a story in this process. `target` is where `way` of dying happens, once; `passed` are all points met."""

    story: Story
    doors: Ports
    target: Point | None = None
    way: str = ALONE
    clock: HandClock = field(default_factory=HandClock)
    tally: KeptTally = field(default_factory=KeptTally)
    queue: MemoryQueue = field(default_factory=MemoryQueue)
    passed: list[Point] = field(default_factory=list)
    hit: bool = False
    thawed: tuple[Record, int] | None = None
    """What there was, in the store and in the tally, when the frozen one went on."""
    see: Callable[[Point], Awaitable[None]] | None = None
    begins: Callable[[], None] = lambda: None
    ends: Callable[[], None] = lambda: None
    _tools: set[asyncio.Task[Any]] = field(default_factory=set)
    _counts: dict[str, Counting] = field(default_factory=dict)
    _died: asyncio.Event = field(default_factory=asyncio.Event)
    _holders: int = 0

    def __post_init__(self) -> None:
        self._counts = {role: Counting(role, self._seen) for role in (ORCHESTRATOR, TOOL, SCANNER)}

    async def perform(self, *, together: int = 1, impatient: bool = False) -> Record:
        """From the first delivery to the end, whatever happens on the way."""
        await furnish(self.doors, self.story, sealing=False)
        await self.queue.enqueue("e", slice=0)
        self.begins()
        waiting: list[Task] = []

        def tasks() -> Sequence[Task]:
            while (taken := self.queue.take()) is not None:
                waiting.append(Task(due=self.clock.now() + taken.after, slice=taken.slice, nudge=taken.nudge))
            return waiting

        await drive(self.deliver, tasks, self.clock, together=together, impatient=impatient)
        self.ends()
        return await record(self.doors, self.story, self.tally)

    async def deliver(self, slice: int) -> bool:
        self._died.clear()
        self._holders += 1
        earlier = set(self._tools)
        house = loop_house(
            self.doors,
            self.story,
            queue=self.queue,
            tally=self.tally,
            clock=self.clock,
            remote=self,
            meet=self._counts[ORCHESTRATOR],
            seal=unsealed,
        )
        try:
            return await deliver(house, "e", slice=slice, holder=f"h{self._holders}")
        except Killed:
            return False
        except Exception:  # noqa: BLE001 - as the function answers 500
            return False
        finally:
            if self._tools - earlier:
                await asyncio.wait(self._tools - earlier)  # a tool function outlives its orchestrator

    async def run(self, tool: str, *, execution: Execution, seq: int) -> ToolCallResult:
        summons = Summons(execution=execution.id, seq=seq, epoch=execution.epoch, task=execution.task, owner=execution.owner)
        result: ToolCallResult = await self._beside(carry(self._tool_house(TOOL), tool, summons))
        return result

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
        seen: Sequence[Block] = await self._beside(
            look_through(self._tool_house(SCANNER), execution=execution.id, epoch=execution.epoch, content=content)
        )
        return seen

    def _tool_house(self, role: str) -> ToolHouse:
        return tool_house(self.doors, Wireless(self.tally), clock=self.clock, meet=self._counts[role], keys=None)

    async def _beside(self, work: Awaitable[Any]) -> Any:
        """`work` in a tool function of its own: it dies by itself, and goes on when its orchestrator dies."""
        doing = asyncio.ensure_future(work)
        died = asyncio.ensure_future(self._died.wait())
        self._tools.add(doing)
        try:
            await asyncio.wait({doing, died}, return_when=asyncio.FIRST_COMPLETED)
            if died.done():
                raise Killed
            return doing.result()
        except Killed:
            if died.done():
                raise
            raise Unavailable("the tool function is gone") from None
        except (Stale, Unavailable):
            raise
        except Refused as refused:
            raise Rejected(refused.refusal.message) from None
        except Exception as fault:
            raise Unavailable(f"the tool function answered 500 ({type(fault).__name__})") from fault
        finally:
            died.cancel()
            doing.add_done_callback(self._tools.discard)
            doing.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _seen(self, point: Point) -> None:
        self.passed.append(point)
        await asyncio.sleep(0)  # others go on meanwhile, as they do over a wire
        if self.see is not None:
            await self.see(point)
        if self.hit or point != self.target:
            return
        self.hit = True
        if self.way == AWAY:
            raise Unavailable("the service is away", lost=point.side == "after")
        if self.way == FROZEN:
            await self._taken_over()
            return
        if point.role == ORCHESTRATOR:
            raise Killed
        if self.way in (BOTH, OTHER):
            self._died.set()
            await asyncio.sleep(0)
        if self.way in (BOTH, ALONE):
            raise Killed

    async def _taken_over(self) -> None:
        for _ in range(DELIVERIES_MAX):
            self.clock.turn(FREEZE)
            execution = await self.doors.executions.get("e")
            assert execution is not None
            if execution.status.terminal:
                break
            await self.deliver(execution.slice)
        self.thawed = await record(self.doors, self.story, self.tally), len(self.tally.lines)


async def record(doors: Ports, story: Story, tally: KeptTally) -> Record:
    """What is left of the run."""
    execution = await doors.executions.get("e")
    assert execution is not None
    return Record(
        story=story,
        execution=execution,
        steps=await doors.executions.steps("e"),
        tickets=await doors.executions.tickets("e"),
        entries=await doors.ledger.of_execution("e"),
        purses=[await doors.ledger.purse(name) for name in ("owner:o", "task:t")],
        effects=[Effect(**line) for line in tally.of("effect")],
        asked=[Asked(turn=line["turn"], worst=Decimal(line["worst"])) for line in tally.of("asked")],
    )
