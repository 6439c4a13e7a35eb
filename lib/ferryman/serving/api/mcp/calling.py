"""tools/list and tools/call for people: the agent's tools, each call an execution, and the server's own tools."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from ferryman.catalog.tools import find_tool
from ferryman.composition.api import ApiDependencies
from ferryman.domain.calls.suggestion import find_suggestion
from ferryman.domain.conversations.message import CONTENT_CHARACTERS_MAX
from ferryman.domain.executions.execution import INPUT_CHARACTERS_MAX, Execution
from ferryman.domain.ids import is_id
from ferryman.domain.page import Position
from ferryman.domain.tasks.task import TaskFilter
from ferryman.domain.workspaces.tool_scopes import covers_tool
from ferryman.serving.api.authorization import OWN_CATEGORY, check_scope
from ferryman.serving.api.cancelling import cancel
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.mcp.agent_tools import AgentTools, find_agent, read_tools
from ferryman.serving.api.mcp.approvals import find_continued, require_person, shows_links
from ferryman.serving.api.mcp.caller import McpCaller, check_may_run, get_caller, hold_turn
from ferryman.serving.api.mcp.outcome import GET_EXECUTION, build_outcome, write_result
from ferryman.serving.api.mcp.own_tools import ASK_AGENT, LIST_TASKS, OWN_TOOLS, READING, RUN_TASK, TASKS_LISTED_MAX, WAIT_S_MAX
from ferryman.serving.api.mcp.prompts import is_chat_task
from ferryman.serving.api.mcp.starting import ask_agent, start_call, start_task
from ferryman.serving.api.mcp.tasks import describe_task
from ferryman.serving.api.mcp.waiting import MOMENT_S, wait, waits_for_person
from ferryman.serving.mcp.errors import refuse_params
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.pages import paginate
from ferryman.serving.mcp.results import Complete, Result, TaskCreated

TTL_MS = 60_000
"""For how many milliseconds a client may use a list of tools again."""

NAME_CHARACTERS_MAX = 128
OWN_CHARACTERS_MAX = {"input": INPUT_CHARACTERS_MAX, "message": CONTENT_CHARACTERS_MAX}
"""Of the texts among the arguments of the server's own tools; of any other as many as of a name."""

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


class ArgumentsError(Exception):
    """The arguments of one of the server's own tools are not accepted; the text says why, for the model to correct them."""


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
        return await _list_tasks(deps, caller, _read(arguments, after=str))
    if name == GET_EXECUTION:
        return await _get_execution(deps, exchange, caller, arguments)
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
        values = _read(arguments, task_id=str, input=str)
        return await start_task(deps, caller.caller, _need(values, "task_id"), values.get("input"))
    if name == ASK_AGENT:
        values = _read(arguments, message=str, conversation_id=str)
        agent = await find_agent(deps, caller)
        return await ask_agent(deps, caller.caller, agent, _need(values, "message"), values.get("conversation_id"))
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
    with suppress(
        Exception
    ):  # where it was refused nothing goes on; where it cannot be cancelled it does, and can be picked up
        execution = await starting
        if not goes_on:
            await cancel(deps, caller.caller, execution.id)


async def _get_execution(
    deps: ApiDependencies, exchange: McpExchange, caller: McpCaller, arguments: Mapping[str, Any]
) -> Result:
    values = _read(arguments, execution_id=str, wait_s=(int, float))
    name, within_s = _need(values, "execution_id"), values.get("wait_s", 0)
    if not 0 <= within_s <= WAIT_S_MAX:
        raise ArgumentsError(f"wait_s must be 0 to {WAIT_S_MAX} seconds")
    async with hold_turn(deps, caller.caller):
        execution = await deps.executions.get(name) if is_id(name) else None
    if execution is None or not caller.caller.sees(execution):
        raise NotFoundError("execution")
    execution = await wait(deps, caller.caller, execution, exchange, within_s=min(within_s, deps.answer_wait_s))
    return Complete(await build_outcome(deps, execution, url=caller.url))


async def _list_tasks(deps: ApiDependencies, caller: McpCaller, values: Mapping[str, Any]) -> Result:
    async with hold_turn(deps, caller.caller):
        after = _read_position(values.get("after"))
        page = await deps.tasks.list(
            caller.caller.workspace, which=TaskFilter(enabled=True), after=after, most=TASKS_LISTED_MAX
        )
    listed = [task for task in page if not is_chat_task(task)]
    tasks = [
        {"task_id": task.id, "name": task.name, "description": task.description, "agent_id": task.agent} for task in listed
    ]
    following = None if page.end is None else f"{page.end.at.isoformat()}/{page.end.id}"
    text = "\n".join(f"{task['task_id']}: {task['name']}" for task in tasks) or "There are no tasks."
    if following is not None:
        text += f'\nThere are more: call {LIST_TASKS} with {{"after": "{following}"}}'
    return Complete(write_result(text, {"tasks": tasks, "next": following}, is_error=False))


def _read_position(text: str | None) -> Position | None:
    """Return the place that a list before had as its end: one of the caller's workspace, whatever is in it."""
    if text is None:
        return None
    moment, _, name = text.partition("/")
    try:
        at = datetime.fromisoformat(moment)
        if at.tzinfo is not None and is_id(name):
            return Position(at.astimezone(UTC), name)
    except (ValueError, OverflowError):
        pass  # a day that there is not, or one before the first
    raise refuse_params("arguments.after must be the next of a list before")


def _read(arguments: Mapping[str, Any], **kinds: Any) -> dict[str, Any]:
    """Return the arguments of one of the server's own tools. Raise `ArgumentsError` for unknown ones, other types and too long
    texts."""
    for name, value in arguments.items():
        if name not in kinds:
            raise ArgumentsError(f"arguments may have {', '.join(kinds)}, and nothing else")
        if not isinstance(value, kinds[name]) or isinstance(value, bool):
            raise ArgumentsError(f"arguments.{name} is of another type than tools/list has it")
        most = OWN_CHARACTERS_MAX.get(name, NAME_CHARACTERS_MAX)
        if isinstance(value, str) and len(value) > most:
            raise ArgumentsError(f"arguments.{name} must have at most {most:,} characters")
    return dict(arguments)


def _need(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ArgumentsError(f"arguments.{name} is required, and must not be empty")
    return value
