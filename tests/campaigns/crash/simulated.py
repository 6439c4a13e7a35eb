"""Deaths in memory: a killed process stops at that line, by an exception that nothing catches; the doubles remember."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from ferryman.domain.calls.call import Ticket
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.conversations.window import WindowPart
from ferryman.domain.credits.balance import CreditBalance, name_owner_balance
from ferryman.domain.credits.conversation import join_conversations
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Block
from ferryman.domain.files.object import ObjectChangedError
from ferryman.domain.http.request import REQUEST_SECONDS
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.agents import MemoryAgents
from ferryman.inmemory.alerts import MemoryAlertQueue
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.contexts import MemoryContexts
from ferryman.inmemory.conversations import MemoryConversations
from ferryman.inmemory.credentials import MemoryCredentials
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.file_quotas import MemoryFileQuotas
from ferryman.inmemory.jobs import MemoryJobs
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts, MemoryLedger, MemoryOwners
from ferryman.inmemory.queue import MemoryQueue
from ferryman.inmemory.tasks import MemoryTasks
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.inmemory.usage import MemoryUsage
from ferryman.inmemory.user_documents import MemoryUserDocuments
from ferryman.loop.run import deliver
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.local_functions import build_user_id
from ferryman.ports.tickets import CallRequest
from ferryman.tools.execute_call import ToolDependencies, execute_call, scan_output, scan_window
from tests.campaigns.crash.bucket import CountedObjects, FilesFunction, RemoteFunction, collect
from tests.campaigns.crash.chats import read_chat
from tests.campaigns.crash.decided import DeviceAnswer
from tests.campaigns.crash.deciding import Devices
from tests.campaigns.crash.driver import DELIVERIES_MAX, Task, drive, name_wake_up
from tests.campaigns.crash.fixtures import Ports, build_loop_deps, build_tool_deps, store_task, unseal_arguments
from tests.campaigns.crash.invariants import Effect, ModelCall, Record
from tests.campaigns.crash.peers import SimulatedTransport
from tests.campaigns.crash.platform import list_schedules
from tests.campaigns.crash.points import (
    ALONE,
    BOTH,
    DEVICE,
    FILES,
    ORCHESTRATOR,
    OTHER,
    SCANNER,
    TOOL,
    Counting,
    InstrumentedPort,
    Point,
)
from tests.campaigns.crash.scenarios import Scenario

AWAY = "away"
"""A way to fail that nobody dies of: the call is not answered, before or after it was executed."""

FROZEN = "frozen"
"""Nobody dies: the process is frozen until another has brought the execution to its end."""


FREEZE = timedelta(seconds=REQUEST_SECONDS + 10)
"""Longer than a lease, and than a call may be under way."""


delivery: ContextVar[int] = ContextVar("delivery", default=0)
"""The delivery that something belongs to, also what it does beside; 0 outside of all."""


class Killed(BaseException):
    """The process died."""


@dataclass
class KeptTally:
    """`Tally` in memory."""

    lines: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def add(self, kind: str, **line: Any) -> None:
        self.lines.append((kind, line))

    def list_lines(self, kind: str) -> list[dict[str, Any]]:
        return [line for line_kind, line in self.lines if line_kind == kind]


def memory_ports(memory: Memory) -> Ports:
    async def ask(name: str, fields: Mapping[str, Any]) -> None:
        memory.requests[name] = fields

    return Ports(
        ask=ask,
        owners=MemoryOwners(memory),
        contexts=MemoryContexts(memory),
        conversations=MemoryConversations(memory),
        jobs=MemoryJobs(memory),
        agents=MemoryAgents(memory),
        tasks=MemoryTasks(memory),
        credentials=MemoryCredentials(memory),
        executions=MemoryExecutions(memory),
        approvals=MemoryApprovals(memory),
        file_quotas=MemoryFileQuotas(memory),
        tickets=MemoryTickets(memory),
        user_documents=MemoryUserDocuments(memory),
        halts=MemoryHalts(memory),
        ledger=MemoryLedger(memory),
        usage=MemoryUsage(memory),
    )


@dataclass(kw_only=True)
class SimulatedRun:
    """One run of a scenario in this process. `target` is where `way` of dying happens, once; `passed` are all points met."""

    scenario: Scenario
    ports: Ports
    target: Point | None = None
    way: str = ALONE
    clock: ManualClock = field(default_factory=ManualClock)
    tally: KeptTally = field(default_factory=KeptTally)
    queue: MemoryQueue = field(default_factory=MemoryQueue)
    alerts: MemoryAlertQueue = field(default_factory=MemoryAlertQueue)
    passed: list[Point] = field(default_factory=list)
    hit: bool = False
    thawed: tuple[Record, int] | None = None
    """What there was, in the store and in the tally, when the frozen one went on."""
    see: Callable[[Point], Awaitable[None]] | None = None
    begins: Callable[[], None] = lambda: None
    ends: Callable[[], None] = lambda: None
    objects: CountedObjects = field(init=False)
    _tools: set[asyncio.Task[Any]] = field(default_factory=set)
    _counts: dict[str, Counting] = field(default_factory=dict)
    _died: asyncio.Event = field(default_factory=asyncio.Event)
    _holders: int = 0
    _deaths: dict[int, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))
    """Of each delivery: nothing that one that died had under way goes on."""

    def __post_init__(self) -> None:
        self._counts = {role: Counting(role, self._meet) for role in (ORCHESTRATOR, TOOL, SCANNER, FILES, DEVICE)}
        self.objects = CountedObjects(self.clock)

    async def perform(self, *, together: int = 1, impatient: bool = False) -> Record:
        """Execute it from the first delivery to the end, whatever happens on the way."""
        await store_task(self.ports, self.scenario, sealing=False)
        await self.queue.enqueue("e", slice=0)
        self.begins()
        waiting: list[Task] = []

        def tasks() -> Sequence[Task]:
            while (task := self.queue.take()) is not None:
                if task.execution != "e":
                    continue  # the next answer's, which is not delivered here
                waiting.append(
                    Task(due=self.clock.now() + task.after, slice=task.slice, wake_up=name_wake_up(task.wake_up, task.waits))
                )
            return waiting

        devices = Devices(self.scenario, self.ports, self.queue, self.clock, self._counts[DEVICE], Killed, tally=self.tally)

        async def deliver(slice: int) -> bool:
            is_done = await self.deliver(slice)
            await devices.decide()
            return is_done

        await drive(deliver, tasks, self.clock, together=together, impatient=impatient)
        self.ends()
        ended = await record(self.ports, self.scenario, self.tally)
        if self.scenario.files is None:
            return ended
        files, stored = FilesFunction(self.objects), self.objects.stored
        return replace(ended, files=await collect(ended.execution, files, self.ports.file_quotas, self.clock, stored=stored))

    async def deliver(self, slice: int) -> bool:
        self._died.clear()
        self._holders += 1
        of_this = delivery.set(self._holders)
        earlier = set(self._tools)
        deps = build_loop_deps(
            self.ports,
            self.scenario,
            queue=self.queue,
            alerts=self.alerts,
            tally=self.tally,
            clock=self.clock,
            remote=self,
            meet=self._counts[ORCHESTRATOR],
            seal=unseal_arguments,
            files=None if self.scenario.files is None else RemoteFunction(self._ask_files),
        )
        try:
            return await self._live(deliver(deps, "e", slice=slice, holder=f"h{self._holders}"))
        except Killed:
            return False
        except Exception:  # noqa: BLE001 - as the function answers 500
            return False
        finally:
            delivery.reset(of_this)
            if self._tools - earlier:
                await asyncio.wait(self._tools - earlier)  # a tool function outlives its orchestrator

    async def _live(self, delivering: Awaitable[bool]) -> bool:
        """Await a delivery until it ends, or dies in something that it does beside."""
        doing = asyncio.ensure_future(delivering)
        death = asyncio.ensure_future(self._deaths[delivery.get()].wait())
        await asyncio.wait({doing, death}, return_when=asyncio.FIRST_COMPLETED)
        death.cancel()
        if doing.done():
            return doing.result()
        doing.cancel()
        await asyncio.wait({doing})
        raise Killed

    async def run(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        call_request = CallRequest(
            execution=execution.id, seq=ticket.seq, epoch=execution.epoch, task=execution.task, owner=execution.owner
        )
        settled: Ticket = await self._beside(execute_call(self._build_tool_deps(TOOL), ticket.tool, call_request))
        return settled

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
        seen: Sequence[Block] = await self._beside(
            scan_output(
                self._build_tool_deps(SCANNER),
                execution=execution.id,
                task=execution.task,
                epoch=execution.epoch,
                content=content,
            )
        )
        return seen

    async def scan_window(self, execution: Execution, texts: Sequence[str]) -> Sequence[WindowPart]:
        deps = self._build_tool_deps(SCANNER)
        scanning = scan_window(deps, execution=execution.id, task=execution.task, epoch=execution.epoch, texts=texts)
        parts: Sequence[WindowPart] = await self._beside(scanning)
        return parts

    async def _ask_files(self, method: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        objects: Any = InstrumentedPort(self.objects, "objects", self._counts[FILES])
        return await self._beside(getattr(FilesFunction(objects), method)(*arguments, **named))

    def _build_tool_deps(self, role: str) -> ToolDependencies:
        return build_tool_deps(self.ports, SimulatedTransport(self.tally), clock=self.clock, meet=self._counts[role], keys=None)

    async def _beside(self, work: Awaitable[Any]) -> Any:
        """Await `work` in a tool function of its own: it dies by itself, and goes on when its orchestrator dies."""
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
            raise UnavailableError("the tool function died") from None
        except (StaleError, UnavailableError, ObjectChangedError):
            raise
        except CallRefusedError as refused:
            raise RejectedError(refused.refusal.message) from None
        except Exception as fault:
            raise UnavailableError(f"the tool function answered 500 ({type(fault).__name__})") from fault
        finally:
            died.cancel()
            doing.add_done_callback(self._tools.discard)
            doing.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _meet(self, point: Point) -> None:
        self.passed.append(point)
        await asyncio.sleep(0)  # others go on meanwhile, as they do over a wire
        if self.see is not None:
            await self.see(point)
        if point.role.endswith(ORCHESTRATOR) and self._deaths[delivery.get()].is_set():
            raise Killed
        if self.hit or point != self.target:
            return
        self.hit = True
        if self.way == AWAY:
            raise UnavailableError("the service is away", lost=point.side == "after")
        if self.way == FROZEN:
            await self._taken_over()
            return
        if point.role.endswith(ORCHESTRATOR):
            if delivery.get():
                self._deaths[delivery.get()].set()
            raise Killed
        if self.way in (BOTH, OTHER):
            self._died.set()
            await asyncio.sleep(0)
        if self.way in (BOTH, ALONE):
            raise Killed

    async def _taken_over(self) -> None:
        for _ in range(DELIVERIES_MAX):
            self.clock.turn(FREEZE)
            execution = await self.ports.executions.get("e")
            assert execution is not None
            if execution.status.terminal:
                break
            await self.deliver(execution.slice)
        self.thawed = await record(self.ports, self.scenario, self.tally), len(self.tally.lines)


async def read_balance(ports: Ports, owner: str) -> CreditBalance:
    """Return the balance of `owner`, with a part for each conversation of the default workspace."""
    conversations = await ports.ledger.list_conversations(derive_default_workspace(owner), most=100)
    return join_conversations(await ports.ledger.balance(name_owner_balance(owner)), conversations)


async def record(ports: Ports, scenario: Scenario, tally: KeptTally) -> Record:
    """Collect the stored state and the effects of the run."""
    execution = await ports.executions.get("e")
    assert execution is not None
    user, kinds = build_user_id(execution.context), ("taste", "dietary", "lifestyle")
    stored_documents = {kind: (await ports.user_documents.get(user, f"user_memory/{kind}"))[0] for kind in kinds}
    return Record(
        scenario=scenario,
        execution=execution,
        steps=await ports.executions.steps("e"),
        tickets=await ports.executions.tickets("e"),
        entries=await ports.ledger.of_execution("e"),
        opening=await ports.executions.opening("e"),
        receipts=await ports.executions.receipts("e"),
        approvals=await ports.approvals.list_of("e"),
        answers=[DeviceAnswer(**line) for line in tally.list_lines("answered")],
        chat=await read_chat(ports) if scenario.chats else None,
        balance=await read_balance(ports, execution.owner),
        effects=[Effect(**line) for line in tally.list_lines("effect")],
        events=await ports.usage.list_events(execution.workspace, most=1_000),
        schedules=await list_schedules(ports, execution.owner),
        preferences={kind: document["preferences"] for kind, document in stored_documents.items() if document is not None},
        model_calls=[ModelCall(turn=line["turn"], worst=Decimal(line["worst"])) for line in tally.list_lines("asked")],
    )
