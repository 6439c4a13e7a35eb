"""The loop on doubles: one owner, one task, tools that answer what a test tells them to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman import catalog
from ferryman.billing.prices import Prices
from ferryman.catalog.tools import find_tool
from ferryman.domain.approvals.approval import Approval
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.conversations.window import WindowPart, decide, measure_end
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Reply
from ferryman.domain.executions.usage import Usage
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import PLANS
from ferryman.domain.records.event import derive_events
from ferryman.inmemory.alerts import MemoryAlertQueue
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.clock import START, ManualClock
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.contexts import MemoryContexts
from ferryman.inmemory.conversations import MemoryConversations
from ferryman.inmemory.credentials import MemoryCredentials
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.jobs import MemoryJobs
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.model import ScriptedModel
from ferryman.inmemory.owners import MemoryHalts, MemoryOwners
from ferryman.inmemory.queue import MemoryQueue
from ferryman.inmemory.tasks import MemoryTasks
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.inmemory.usage import MemoryUsageQueue
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.run import deliver
from ferryman.ports.log import Tracer
from ferryman.ports.platform import ToolDiscovery
from ferryman.ports.tickets import CallRequest
from ferryman.tools.registry import ToolRegistry
from ferryman.vault import sign
from tests.builders import build_execution, build_task
from tests.canaries import canary
from tests.canaries.sink import append

KEY = canary.create_key("loop")

INTEGRATIONS, PRICES = catalog.load(), Prices({"scripted": {"input": "3", "output": "15"}})
"""Read once: each of thousands of deliveries would parse them again."""

TASK = build_task(
    name="report",
    system_prompt="You report.",
    task_prompt="Report for {{date}}.",
    model="scripted/x",
    tools=("http_get", "api_call"),
    integrations=("coingecko", "webhook"),
)


def says(text: str = "", *calls: tuple[str, dict[str, Any]], stop: str | None = None, tokens: int = 10) -> Reply:
    """Return a reply with this text and these calls."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    blocks += [
        {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": arguments}
        for index, (name, arguments) in enumerate(calls)
    ]
    usage = Usage(input_tokens=tokens, output_tokens=tokens)
    return Reply(content=tuple(blocks), stop_reason=stop or ("tool_use" if calls else "end_turn"), usage=usage)


def fetches(count: int = 1) -> Reply:
    return says("", *[("http_get", {"url": f"https://api.coingecko.com/{number}"}) for number in range(count)])


@dataclass
class Stage:
    """Everything the loop touches, for a test to look at and to turn."""

    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    log: RecordingLog = field(default_factory=RecordingLog)
    tracer: Tracer | None = None
    queue: MemoryQueue = field(default_factory=MemoryQueue)
    alerts: MemoryAlertQueue = field(default_factory=MemoryAlertQueue)
    metering: MemoryUsageQueue = field(default_factory=MemoryUsageQueue)
    model: ScriptedModel = field(default_factory=lambda: ScriptedModel([]))
    executed: list[Ticket] = field(default_factory=list)
    scanned: list[Sequence[Any]] = field(default_factory=list)
    scanned_for: list[str] = field(default_factory=list)
    keys: MemoryKeyStore = field(default_factory=lambda: MemoryKeyStore({2: sign.generate_private_key()}))
    on_call: Callable[[Ticket], ToolCallResult | Approval | Exception] = field(
        default=lambda ticket: ToolCallResult(ticket.tool, f"answer {ticket.seq}", response_status=200)
    )
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    discovery: ToolDiscovery | None = None
    on_scan: Callable[[Sequence[Any]], Sequence[Any]] = field(default=lambda content: content)

    def __post_init__(self) -> None:
        self.tickets = MemoryTickets(self.memory)
        self.memory.owners["o"] = Owner(id="o", plan="pro", created_at=START)
        self.memory.tasks["t"] = TASK
        self.start()

    def start(self, **fields: Any) -> None:
        self.memory.executions["e"] = build_execution(**fields)

    def task(self, **changes: Any) -> None:
        self.memory.tasks["t"] = replace(self.memory.tasks["t"], **changes)

    @property
    def execution(self) -> Execution:
        return self.memory.executions["e"]

    @property
    def results(self) -> list[ToolCallResult]:
        return [ticket.result for _, ticket in sorted(self.memory.tickets["e"].items())]

    def deps(self) -> LoopDependencies:
        return LoopDependencies(
            owners=MemoryOwners(self.memory),
            tasks=MemoryTasks(self.memory),
            credentials=MemoryCredentials(self.memory),
            contexts=MemoryContexts(self.memory),
            clusters=MemoryClusters(self.memory),
            conversations=MemoryConversations(self.memory),
            executions=MemoryExecutions(self.memory),
            approvals=MemoryApprovals(self.memory),
            decisions=self,
            jobs=MemoryJobs(self.memory),
            halts=MemoryHalts(self.memory),
            queue=self.queue,
            alerts=self.alerts,
            metering=self.metering,
            model=self.model,
            scanner=self,
            registry=ToolRegistry(self._execute),
            signing=sign.ReceiptSigning(self.keys, {2: sign.derive_public_key(self.keys.privates[2])}),
            clock=self.clock,
            tracer=self.tracer or self.log,
            seal=lambda execution, seq, arguments: b"sealed:" + arguments,
            price=PRICES.find,
            plans=PLANS,
            integrations=INTEGRATIONS,
            lease=timedelta(minutes=2),
            slice=timedelta(minutes=29),
            execution_timeout=timedelta(minutes=25),
            poll_interval=timedelta(milliseconds=1),
            pause=self.pause,
            discovery=self.discovery,
        )

    async def _execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        now, seq = self.clock.now(), ticket.seq
        call_request = CallRequest(execution=execution.id, seq=seq, epoch=execution.epoch, task="t", owner="o")
        claimed_call = await self.tickets.claim(call_request, tool=find_tool(ticket.tool).function, now=now)
        self.executed.append(claimed_call.ticket)
        result = self.on_call(claimed_call.ticket)
        if isinstance(result, Exception):
            raise result
        if isinstance(result, Approval):
            return await self.tickets.ask(claimed_call, result, now=now)
        ticket = self.note_approval(claimed_call.ticket)
        await self.tickets.settle(replace(claimed_call, ticket=ticket), result, now=now)
        return self.memory.tickets[execution.id][seq]

    def verify(self, message: bytes, *, key: int, signature: str) -> bool:
        """Tell whether a decision is signed: by version 1, with its own bytes."""
        return (key, signature) == (1, message.hex())

    def note_approval(self, ticket: Ticket) -> Ticket:
        """Return the ticket with who approved what is sent."""
        return ticket

    async def scan(self, execution: Execution, content: Sequence[Any]) -> Sequence[Any]:
        self.scanned.append(content)
        self.scanned_for.append(execution.id)
        return self.on_scan(content)

    async def scan_window(self, execution: Execution, texts: Sequence[str]) -> Sequence[WindowPart]:
        clean = [block["text"] for block in self.on_scan([{"type": "text", "text": text} for text in texts])]
        return decide(texts, clean, held_back=measure_end(texts, len(KEY)))

    async def run(self, *script: Reply | Exception) -> bool:
        if script:
            self.model = ScriptedModel(script)
        return await deliver(self.deps(), "e", slice=self.execution.slice, holder="h")


def redacted(content: Sequence[Any], *, key: str = KEY) -> Sequence[Any]:
    """Return the text as a key holder would redact it."""
    return json.loads(json.dumps(list(content)).replace(key, "[redacted:KEY]"))


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    if stage.memory.executions:
        append("records", *at_rest(stage))


def at_rest(stage: Stage) -> list[Any]:
    """Return the whole record and its events, without the arguments, which nobody has sealed here."""
    tickets = {seq: replace(ticket, arguments=b"") for seq, ticket in stage.memory.tickets.get("e", {}).items()}
    steps = list(stage.memory.steps.get("e", {}).values())
    events = derive_events(stage.execution, steps, tickets)
    opening = stage.memory.openings.get("e")
    stored = [stage.execution, *([opening] if opening else []), *steps, *tickets.values(), *events]
    return [*map(asdict, stored), stage.log.lines]
