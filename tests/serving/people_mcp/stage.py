"""People's MCP server with an orchestrator on the same store: what it starts is delivered at once, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from ferryman.catalog.tools import find_tool
from ferryman.composition.api import ApiDependencies
from ferryman.domain.approvals.approval import Approval
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.conversations.chat_task import build_chat_task
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.plan import PLANS
from ferryman.domain.workspaces.agent import build_default_agent
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.clock import START
from ferryman.inmemory.queue import MemoryQueue
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.loop.run import deliver
from ferryman.ports.queue import NOW
from ferryman.ports.tickets import CallRequest
from ferryman.serving.api.mcp import build_server
from tests.loop.conftest import Stage as LoopStage
from tests.serving.conftest import Stage
from tests.serving.mcp.client import Client, Posting

URL = {"elicitation": {"url": {}}}
TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}


@dataclass
class Orchestrator(LoopStage):
    """The loop on a store of somebody else's; its tools answer what a test says."""

    def share(self, stage: McpStage) -> None:
        """Use the store, the clock and the queue of the API."""
        self.memory, self.clock, self.queue = stage.memory, stage.clock, stage.queue
        self.tickets = MemoryTickets(self.memory)

    async def _execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        now, seq = self.clock.now(), ticket.seq
        call_request = CallRequest(
            execution=execution.id, seq=seq, epoch=execution.epoch, task=execution.task, owner=execution.owner
        )
        claimed_call = await self.tickets.claim(call_request, tool=find_tool(ticket.tool).function, now=now)
        self.executed.append(claimed_call.ticket)
        result = self.on_call(claimed_call.ticket)
        if isinstance(result, Exception):
            raise result
        if isinstance(result, Approval):
            return await self.tickets.ask(claimed_call, result, now=now)
        await self.tickets.settle(replace(claimed_call, ticket=self.note_approval(claimed_call.ticket)), result, now=now)
        return self.memory.tickets[execution.id][seq]


class DeliveringQueue(MemoryQueue):
    """A queue that has what is due delivered, as long as `is_open`."""

    def __init__(self) -> None:
        super().__init__()
        self.is_open = True
        self.orchestrator: Orchestrator | None = None
        self.under_way: set[asyncio.Task[bool]] = set()
        self.has_news = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def enqueue(self, execution: str, *, slice: int, after: timedelta = NOW, wake_up: str = "", waits: int = 0) -> None:
        await super().enqueue(execution, slice=slice, after=after, wake_up=wake_up, waits=waits)
        self.has_news.set()
        await self.gate.wait()
        if self.is_open and not after:
            self.deliver()

    def deliver(self) -> None:
        """Deliver all that waits."""
        assert self.orchestrator is not None
        while (item := self.take()) is not None:
            task = asyncio.create_task(deliver(self.orchestrator.deps(), item.execution, slice=item.slice, holder="h"))
            self.under_way.add(task)
            task.add_done_callback(self.under_way.discard)


@dataclass
class McpStage(Stage):
    """The API's stage, with ann's default agent and its chat task, and what executes its calls."""

    queue: DeliveringQueue = field(default_factory=DeliveringQueue)
    answer_wait_s: float = 5.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.orchestrator = self.queue.orchestrator = Orchestrator()
        self.orchestrator.share(self)
        self.headers = self.owner("ann")
        self.workspace = derive_default_workspace("ann")
        self.agent = build_default_agent("ann", self.workspace)
        self.chat_task = build_chat_task(self.agent, PLANS["pro"], self.deps().tools, now=START)
        self.change_chat_task(tools=("http_get", "http_post", "calculator"), integrations=("coingecko",))

    def change_chat_task(self, **fields: Any) -> None:
        """Store the chat task of ann's default agent with these fields."""
        self.chat_task = replace(self.chat_task, **fields)
        self.memory.tasks[self.chat_task.id] = self.chat_task

    def build_deps(self) -> ApiDependencies:
        return self.deps()

    def client(self, headers: Mapping[str, str] | None = None, *, capabilities: Mapping[str, Any] | None = None) -> McpClient:
        """Return a client of ann's, or of anyone who has these headers."""
        return McpClient(self.deps(), self.headers if headers is None else headers, capabilities or {})

    async def settle(self) -> None:
        """Wait for all deliveries that are under way."""
        while self.queue.under_way:
            await asyncio.gather(*self.queue.under_way)

    def answer(self, text: str = "42", **fields: Any) -> None:
        """Have every call answered with this text, which a stranger wrote."""
        parts = (Part(kind=PartKind.TEXT, start=0, end=len(text)),)
        self.orchestrator.on_call = lambda ticket: ToolCallResult(ticket.tool, text, parts=parts, **fields)


class McpClient(Client):
    """A client with an API key."""

    def __init__(self, deps: ApiDependencies, headers: Mapping[str, str], capabilities: Mapping[str, Any]) -> None:
        super().__init__(build_server(deps), capabilities=capabilities)
        self._headers = dict(headers)

    def post(self, body: Any, headers: Mapping[str, str] | None = None, *, verb: str = "POST") -> Posting:
        return super().post(body, {**self._headers, **(headers or {})}, verb=verb)

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None, **params: Any) -> Any:
        """Call a tool, and return the answer."""
        return await self.call("tools/call", {"name": name, "arguments": dict(arguments or {}), **params})
