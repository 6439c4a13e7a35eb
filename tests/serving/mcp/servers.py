"""A small MCP server for tests: an echo, a failure, and tools that wait, report and require input."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ferryman.inmemory.clock import ManualClock
from ferryman.serving.mcp import (
    Complete,
    InputRequired,
    McpExchange,
    McpServer,
    Notification,
    Result,
    Subscription,
    TaskCreated,
    paginate,
    refuse_params,
    sign_state,
    verify_state,
)

KEYS = (b"k" * 32,)
BEGINNING = datetime(2026, 11, 28, tzinfo=UTC)
TOOLS = {
    "echo": {"type": "object", "properties": {"text": {"type": "string"}}},
    "fail": {"type": "object"},
    "wait": {"type": "object"},
    "report": {"type": "object"},
    "approve": {"type": "object"},
    "task": {"type": "object"},
    "route": {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}},
}
VISIT = {"method": "elicitation/create", "params": {"mode": "url", "message": "Decide", "url": "https://example.com/a"}}


def write_text(text: str) -> Complete:
    return Complete({"content": [{"type": "text", "text": text}]})


class Stage:
    """A server, its clock, and what its tools wait for."""

    def __init__(self, **changes: Any) -> None:
        self.clock = ManualClock(BEGINNING)
        self.waiting = asyncio.Event()
        self.go_on = asyncio.Event()
        self.ended: list[str] = []
        self.news: asyncio.Queue[Notification | None] = asyncio.Queue()
        methods = {"tools/list": self.list_tools, "tools/call": self.call_tool, "tasks/get": self.get_task}
        capabilities = {"tools": {"listChanged": True}, "extensions": {"io.modelcontextprotocol/tasks": {}}}
        usual: dict[str, Any] = {
            "name": "stage",
            "version": "1",
            "clock": self.clock,
            "capabilities": capabilities,
            "methods": methods,
            "find_schema": self.find_schema,
            "listen": self.listen,
            "session_keys": self.read_keys,
        }
        self.server = McpServer(**{**usual, **changes})

    async def read_keys(self) -> Sequence[bytes]:
        return KEYS

    async def find_schema(self, _: McpExchange, name: str) -> Mapping[str, Any] | None:
        return TOOLS.get(name)

    async def list_tools(self, exchange: McpExchange) -> Result:
        page, more = paginate(exchange, sorted(TOOLS), str, size=4)
        return Complete({"tools": [{"name": name, "inputSchema": TOOLS[name]} for name in page], **more}, ttl_ms=60_000)

    async def call_tool(self, exchange: McpExchange) -> Result:
        name, arguments = exchange.get_text("name"), exchange.get_object("arguments")
        match name:
            case "echo" | "route":
                return write_text(str(arguments.get("text", "")))
            case "fail":
                raise RuntimeError("secret detail")
            case "wait":
                return await self._wait()
            case "report":
                for step in (1, 1, 2):
                    await exchange.report_progress(step, 2, f"step {step}")
                return write_text("reported")
            case "approve":
                return await self._approve(exchange)
            case "task":
                return TaskCreated({"taskId": "t1", "status": "working", "createdAt": "", "lastUpdatedAt": "", "ttlMs": None})
            case _:
                raise refuse_params("Unknown tool")

    async def _wait(self) -> Result:
        self.waiting.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        self.ended.append("done")
        return write_text("waited")

    async def _approve(self, exchange: McpExchange) -> Result:
        now = self.clock.now()
        remembered = verify_state(exchange, keys=KEYS, now=now)
        if remembered is None:
            return InputRequired({"a1": VISIT}, sign_state(exchange, {"approval": "a1"}, keys=KEYS, now=now))
        return write_text(f"approved {remembered['approval']}")

    async def get_task(self, exchange: McpExchange) -> Result:
        return Complete({"taskId": exchange.get_text("taskId"), "status": "working"})

    async def listen(self, _: McpExchange, filter_: Mapping[str, Any]) -> Subscription:
        granted = {name: filter_[name] for name in ("toolsListChanged", "taskIds") if name in filter_}
        return Subscription(granted, self._watch())

    async def _watch(self) -> AsyncGenerator[Notification, None]:
        try:
            while (notification := await self.news.get()) is not None:
                yield notification
        finally:
            self.ended.append("listening")
