"""tools/list and tools/call for people: the agent's tools, each call an execution, and the server's own tools."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ferryman.catalog.tools import find_tool
from ferryman.composition.api import ApiDependencies
from ferryman.domain.calls.suggestion import find_suggestion
from ferryman.domain.executions.execution import Execution
from ferryman.domain.workspaces.tool_scopes import covers_tool
from ferryman.serving.api.authorization import OWN_CATEGORY, check_scope
from ferryman.serving.api.cancelling import cancel
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.mcp.agent_tools import AgentTools, find_agent, read_tools
from ferryman.serving.api.mcp.approvals import find_continued, require_person, shows_links
from ferryman.serving.api.mcp.caller import McpCaller, check_may_run, get_caller, hold_turn
from ferryman.serving.api.mcp.outcome import GET_EXECUTION, build_outcome, write_result
from ferryman.serving.api.mcp.own_calls import (
    NAME_CHARACTERS_MAX,
    ArgumentsError,
    get_execution,
    get_required,
    list_tasks,
    read_arguments,
)
from ferryman.serving.api.mcp.own_tools import ASK_AGENT, LIST_TASKS, OWN_TOOLS, READING, RUN_TASK
from ferryman.serving.api.mcp.starting import ask_agent, start_call, start_task
from ferryman.serving.api.mcp.tasks import describe_task
from ferryman.serving.api.mcp.waiting import MOMENT_S, wait, waits_for_person
from ferryman.serving.mcp.errors import refuse_params
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.pages import paginate
from ferryman.serving.mcp.results import Complete, Result, TaskCreated

TTL_MS = 60_000
"""For how many milliseconds a client may use a list of tools again."""

OWN_FIRST, OWN_LAST = "0", "1"
UNKNOWN = "there is no such tool: tools/list has those that there are"


async def list_tools(deps: ApiDependencies, exchange: McpExchange) -> Result:
    """Answer tools/list: the agent's tools by name, then the server's own.

    Raise `McpError` with -32602 for an agent that is not there, 409 for an archived one.
    """
    caller = get_caller(exchange)
    async with hold_turn(deps, caller.caller):
        try:
            tools = await read_tools(deps, caller)
        except NotFoundError as error:
            raise refuse_params(error.detail) from None
        names = [OWN_FIRST + name for name in tools.list_names() if name not in OWN_TOOLS]
        ours = [OWN_LAST + name for name in OWN_TOOLS if may_call_own(caller, name)]
        page, more = paginate(exchange, [*names, *ours], lambda name: name)
        described = [describe_tool(tools, name[1:]) for name in page]
    return Complete({"tools": described, **more}, ttl_ms=TTL_MS)


def may_call_own(caller: McpCaller, name: str) -> bool:
    """Tell whether the API key may call one of the server's own tools: one that is narrowed to others only reads."""
    return name in READING or covers_tool(caller.caller.key.tools, name, OWN_CATEGORY)


def describe_tool(tools: AgentTools, name: str) -> dict[str, Any]:
    """Return a tool of the agent, or of the server, as the protocol has it. Raise KeyError for any other name."""
    return OWN_TOOLS[name] if name in OWN_TOOLS else tools.describe(name)


async def call_tool(deps: ApiDependencies, exchange: McpExchange) -> Result:
    """Answer tools/call. Raise `McpError` with -32602 for an unknown tool or an id of nothing here, 403 without the right.

    Arguments that are not accepted are a result that is an error, which the model reads.
    """
    try:
        return await _call_tool(deps, exchange)
    except NotFoundError as error:
        raise refuse_params(error.detail) from None
    except ArgumentsError as error:
        about = {"ok": False, "code": "invalid_arguments", "suggestion": find_suggestion("invalid_arguments")}
        return Complete(write_result(f"Error: {error}", about, is_error=True))


async def _call_tool(deps: ApiDependencies, exchange: McpExchange) -> Result:
    name = exchange.get_text("name", longest=NAME_CHARACTERS_MAX)
    arguments = exchange.get_object("arguments")
    caller = get_caller(exchange)
    if name == LIST_TASKS:
        return await list_tasks(deps, exchange, arguments)
    if name == GET_EXECUTION:
        return await get_execution(deps, exchange, arguments)
    check_may_run(deps, caller.caller)
    if name in OWN_TOOLS and not may_call_own(caller, name):
        check_scope(deps, caller.caller, name, OWN_CATEGORY)
        raise refuse_params(UNKNOWN)
    continued = await find_continued(deps, exchange)
    if continued is not None:
        return await _finish(deps, exchange, continued)
    starting = asyncio.ensure_future(_start_in_turn(deps, caller, name, arguments))
    try:
        # what is being stored is known afterwards, or nobody could withdraw it
        return await _finish(deps, exchange, await asyncio.shield(starting))
    except asyncio.CancelledError:
        await asyncio.shield(_leave(deps, caller, starting, goes_on=name in OWN_TOOLS))
        raise


async def _start_in_turn(deps: ApiDependencies, caller: McpCaller, name: str, arguments: Mapping[str, Any]) -> Execution:
    async with hold_turn(deps, caller.caller):
        return await _start(deps, caller, name, arguments)


async def _start(deps: ApiDependencies, caller: McpCaller, name: str, arguments: Mapping[str, Any]) -> Execution:
    if name == RUN_TASK:
        values = read_arguments(arguments, task_id=str, input=str)
        return await start_task(deps, caller.caller, get_required(values, "task_id"), values.get("input"))
    if name == ASK_AGENT:
        values = read_arguments(arguments, message=str, conversation_id=str)
        agent = await find_agent(deps, caller)
        return await ask_agent(deps, caller.caller, agent, get_required(values, "message"), values.get("conversation_id"))
    tools = await read_tools(deps, caller, only=name)
    if name not in tools.list_names():
        if caller.caller.key.issuer and name in (await read_tools(deps, caller.widen(), only=name)).list_names():
            check_scope(deps, caller.caller, name, find_tool(name).category)
        raise refuse_params(UNKNOWN)
    return await start_call(deps, caller.caller, tools, name, arguments)


async def _finish(deps: ApiDependencies, exchange: McpExchange, execution: Execution) -> Result:
    """Return the result of an execution that ends soon; else the task that it is, or what the client can be told by now."""
    caller = get_caller(exchange)
    within_s = min(MOMENT_S, deps.answer_wait_s) if exchange.has_tasks else deps.answer_wait_s
    current = await wait(deps, caller.caller, execution, exchange, within_s=within_s)
    if exchange.has_tasks and not current.status.terminal:
        return TaskCreated(await describe_task(deps, exchange, current))
    if shows_links(exchange) and await waits_for_person(deps, current):
        return await require_person(deps, exchange, current)
    return Complete(await build_outcome(deps, current, url=caller.url))


async def _leave(deps: ApiDependencies, caller: McpCaller, starting: asyncio.Future[Execution], *, goes_on: bool) -> None:
    """Cancel what a client has left: what was not sent of it is not sent any more. Tasks and answers go on."""
    # where it was refused nothing goes on; where it cannot be cancelled it does, and can be picked up
    with suppress(Exception):
        execution = await starting
        if not goes_on:
            await cancel(deps, caller.caller, execution.id)
