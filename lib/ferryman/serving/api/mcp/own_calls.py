"""Calls of the server's own tools: their arguments, and those tools that only read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ferryman.composition.api import ApiDependencies
from ferryman.domain.conversations.message import CONTENT_CHARACTERS_MAX
from ferryman.domain.executions.execution import INPUT_CHARACTERS_MAX
from ferryman.domain.ids import is_id
from ferryman.domain.page import Position
from ferryman.domain.tasks.task import TaskFilter
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.mcp.caller import get_caller, hold_turn
from ferryman.serving.api.mcp.outcome import build_outcome, write_result
from ferryman.serving.api.mcp.own_tools import LIST_TASKS, TASKS_LISTED_MAX, WAIT_S_MAX
from ferryman.serving.api.mcp.prompts import is_chat_task
from ferryman.serving.api.mcp.waiting import wait
from ferryman.serving.mcp.errors import refuse_params
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.results import Complete, Result

NAME_CHARACTERS_MAX = 128
TEXT_CHARACTERS_MAX = {"input": INPUT_CHARACTERS_MAX, "message": CONTENT_CHARACTERS_MAX}
"""Of the texts among the arguments of the server's own tools; of any other as many as of a name."""


class ArgumentsError(Exception):
    """The arguments of one of the server's own tools are not accepted; the text says why, for the model to correct them."""


def read_arguments(arguments: Mapping[str, Any], **kinds: Any) -> dict[str, Any]:
    """Return the arguments of one of the server's own tools. Raise `ArgumentsError` for unknown ones, other types and too long
    texts."""
    for name, value in arguments.items():
        if name not in kinds:
            raise ArgumentsError(f"arguments may have {', '.join(kinds)}, and nothing else")
        if not isinstance(value, kinds[name]) or isinstance(value, bool):
            raise ArgumentsError(f"arguments.{name} is of another type than tools/list has it")
        most = TEXT_CHARACTERS_MAX.get(name, NAME_CHARACTERS_MAX)
        if isinstance(value, str) and len(value) > most:
            raise ArgumentsError(f"arguments.{name} must have at most {most:,} characters")
    return dict(arguments)


def get_required(values: Mapping[str, Any], name: str) -> str:
    """Return a text among the arguments. Raise `ArgumentsError` where it is absent or blank."""
    value = values.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ArgumentsError(f"arguments.{name} is required, and must not be empty")
    return value


async def get_execution(deps: ApiDependencies, exchange: McpExchange, arguments: Mapping[str, Any]) -> Result:
    """Answer a call of get_execution, after `wait_s` seconds at most.

    Raise `ArgumentsError`, and `NotFoundError` for an execution that is not there or not in the caller's workspace.
    """
    caller = get_caller(exchange)
    values = read_arguments(arguments, execution_id=str, wait_s=(int, float))
    name, within_s = get_required(values, "execution_id"), values.get("wait_s", 0)
    if not 0 <= within_s <= WAIT_S_MAX:
        raise ArgumentsError(f"wait_s must be 0 to {WAIT_S_MAX} seconds")
    async with hold_turn(deps, caller.caller):
        execution = await deps.executions.get(name) if is_id(name) else None
    if execution is None or not caller.caller.sees(execution):
        raise NotFoundError("execution")
    execution = await wait(deps, caller.caller, execution, exchange, within_s=min(within_s, deps.answer_wait_s))
    return Complete(await build_outcome(deps, execution, url=caller.url))


async def list_tasks(deps: ApiDependencies, exchange: McpExchange, arguments: Mapping[str, Any]) -> Result:
    """Answer a call of list_tasks. Raise `ArgumentsError`, and `McpError` with -32602 for an `after` that no list had."""
    caller, values = get_caller(exchange), read_arguments(arguments, after=str)
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
    """Return the place where an earlier list ended: it leads nowhere but into the caller's workspace, whatever is in it."""
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
