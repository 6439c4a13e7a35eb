"""Prompts: the tasks of a workspace, as MCP offers them to people in a client's menu. What they say, the owner wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ferryman.composition.api import ApiDependencies
from ferryman.domain.conversations.chat_task import derive_chat_task
from ferryman.domain.executions.execution import INPUT_CHARACTERS_MAX
from ferryman.domain.ids import is_id
from ferryman.domain.tasks.prompt import render_variables
from ferryman.domain.tasks.task import Task, TaskFilter, TaskSummary
from ferryman.serving.api.mcp.caller import get_caller, hold_turn
from ferryman.serving.api.rights import Caller
from ferryman.serving.mcp import Complete, McpExchange, Result, paginate, refuse_params

ARGUMENT = {"name": "input", "description": "What to add to the prompt of the task", "required": False}
LIST_TTL_MS = 5_000


async def list_offered_tasks(deps: ApiDependencies, caller: Caller) -> Sequence[TaskSummary]:
    """Return the enabled tasks of the workspace, the oldest first: without those that conversations are answered with."""
    page = await deps.tasks.list(caller.workspace, which=TaskFilter(enabled=True))
    return [task for task in page if not is_chat_task(task)]


def is_chat_task(task: TaskSummary) -> bool:
    """Tell whether the conversations of an agent are answered with this task."""
    return task.id == derive_chat_task(task.agent)


async def list_prompts(deps: ApiDependencies, exchange: McpExchange) -> Result:
    """Answer prompts/list: the tasks of the workspace."""
    caller = get_caller(exchange).caller
    async with hold_turn(deps, caller):
        tasks = await list_offered_tasks(deps, caller)
    page, after = paginate(exchange, tasks, lambda task: f"{task.created_at.isoformat(timespec='microseconds')} {task.id}")
    return Complete({"prompts": [_describe(task) for task in page], **after}, ttl_ms=LIST_TTL_MS)


async def get_prompt(deps: ApiDependencies, exchange: McpExchange) -> Result:
    """Answer prompts/get: the prompts of a task, with their variables filled in, and the `input` after them.

    Raise `McpError` with -32602 for a task that is not the workspace's, and for arguments that a prompt does not have.
    """
    caller = get_caller(exchange).caller
    name, addition = exchange.get_text("name"), _read_input(exchange)
    async with hold_turn(deps, caller):
        task = await find_prompt(deps, caller, name)
    if task is None:
        raise refuse_params("name is no prompt of this workspace: prompts/list has them")
    now = deps.clock.now()
    variables = {"date": now.strftime("%Y-%m-%d"), "datetime": now.isoformat(), "task_name": task.name}
    texts = (render_variables(text, variables) for text in (task.system_prompt, task.task_prompt))
    messages = [_write_message(text) for text in (*texts, addition) if text]
    return Complete({"messages": messages, **({"description": task.description} if task.description else {})})


async def find_prompt(deps: ApiDependencies, caller: Caller, name: str) -> Task | None:
    """Return the task that is a prompt of this name; None for any other, as for one that is not there."""
    task = await deps.tasks.get(name) if is_id(name) else None
    return task if task is not None and caller.sees(task) and task.enabled and not is_chat_task(task) else None


def _read_input(exchange: McpExchange) -> str:
    arguments = exchange.get_object("arguments")
    unknown = sorted(set(arguments) - {ARGUMENT["name"]})
    if unknown:
        raise refuse_params("arguments may have one member: input")
    text = arguments.get("input", "")
    if not isinstance(text, str) or len(text) > INPUT_CHARACTERS_MAX:
        raise refuse_params(f"arguments.input must be a text of at most {INPUT_CHARACTERS_MAX:,} characters")
    return text


def _describe(task: TaskSummary) -> dict[str, Any]:
    described: dict[str, Any] = {"name": task.id, "title": task.name, "arguments": [ARGUMENT]}
    if task.description:
        described["description"] = task.description
    return described


def _write_message(text: str) -> dict[str, Any]:
    return {"role": "user", "content": {"type": "text", "text": text}}
