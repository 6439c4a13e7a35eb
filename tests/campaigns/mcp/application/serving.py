"""The application as an ASGI app: one endpoint, /mcp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferryman.domain.mcp_revisions import TASKS
from ferryman.serving.mcp import Complete, McpExchange, McpServer, Result, Subscription, paginate, refuse_params, respond

from . import asking, reading, tasks, tools
from .session_log import MemorySessionLog
from .state import Process, SystemClock, Tasks, watch
from .tools import Fixtures

TOOLS = (*tools.TOOLS, *asking.TOOLS, *tasks.TOOLS)
BY_NAME = {tool.name: tool for tool in TOOLS}
ORDER = {tool.name: f"{position:03}" for position, tool in enumerate(TOOLS)}
CAPABILITIES = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {},
    "completions": {},
    "extensions": {TASKS: {}},
}
LEGACY_CAPABILITIES = {"tools": {}, "prompts": {}, "resources": {"subscribe": True}, "completions": {}, "logging": {}}


async def list_tools(_: Fixtures, exchange: McpExchange) -> Result:
    page, more = paginate(exchange, TOOLS, lambda tool: ORDER[tool.name])
    return Complete({"tools": [tool.describe() for tool in page], **more}, ttl_ms=reading.TTL_MS, scope="public")


async def call_tool(deps: Fixtures, exchange: McpExchange) -> Result:
    tool = BY_NAME.get(exchange.get_text("name"))
    if tool is None:
        raise refuse_params("Unknown tool")
    return await tool.run(deps, exchange, exchange.get_object("arguments"))


async def find_schema(_: McpExchange, name: str) -> Mapping[str, Any] | None:
    tool = BY_NAME.get(name)
    return None if tool is None else tool.schema


def build_server(folder: Path, key: bytes, *, with_log: bool = False) -> McpServer:
    """Return the server: its tasks are in `folder`, states and sessions are signed with `key`."""
    deps = Fixtures(Tasks(folder), Process(), (key,))

    async def read_keys() -> Sequence[bytes]:
        return deps.keys

    async def listen(_: McpExchange, filter_: Mapping[str, Any]) -> Subscription:
        names = filter_.get("taskIds", [])
        return Subscription(filter_, watch(deps.tasks, deps.process, names))

    methods = {
        "tools/list": list_tools,
        "tools/call": call_tool,
        "resources/list": reading.list_resources,
        "resources/templates/list": reading.list_templates,
        "resources/read": reading.read_resource,
        "prompts/list": reading.list_prompts,
        "prompts/get": reading.get_prompt,
        "completion/complete": reading.complete,
        "tasks/get": tasks.get_task,
        "tasks/update": tasks.update_task,
        "tasks/cancel": tasks.cancel_task,
    }
    legacy = {
        "logging/setLevel": reading.set_level,
        "resources/subscribe": reading.subscribe,
        "resources/unsubscribe": reading.unsubscribe,
    }
    return McpServer(
        name="conformance",
        version="1",
        title="Fixtures of the conformance suite",
        clock=SystemClock(),
        capabilities=CAPABILITIES,
        legacy_capabilities=LEGACY_CAPABILITIES,
        methods={name: partial(method, deps) for name, method in methods.items()},
        legacy_methods={name: partial(method, deps) for name, method in legacy.items()},
        find_schema=find_schema,
        listen=listen,
        session_keys=read_keys,
        hosts=("127.0.0.1", "localhost", "::1"),
        session_log=MemorySessionLog() if with_log else None,
        receive_answer=deps.process.receive_answer,
    )


def build_app(folder: Path, key: bytes, *, with_log: bool = False) -> Starlette:
    """Return the application."""
    server = build_server(folder, key, with_log=with_log)

    async def answer(request: Request) -> Response:
        return await respond(server, request)

    return Starlette(routes=[Route("/mcp", answer, methods=["GET", "POST", "DELETE"])])
