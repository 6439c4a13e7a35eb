"""Starting from an MCP client: a direct call, a stored task, or an answer. What the client wrote is untrusted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ferryman.composition.api import ApiDependencies
from ferryman.domain.conversations.asking import Question
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.executions.execution import ARGUMENTS_CHARACTERS_MAX, Execution
from ferryman.domain.ids import is_id
from ferryman.domain.labels.label import READ
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.agent import Agent
from ferryman.serving.api.asking import Asking, check_model, write_input
from ferryman.serving.api.chat_tasks import TASK_GONE, provide_chat_task
from ferryman.serving.api.conversations import begin_conversation, find_conversation
from ferryman.serving.api.errors import ConflictError, NotFoundError
from ferryman.serving.api.execution_start import check_start, start_stored
from ferryman.serving.api.idempotency import IdempotentRequest
from ferryman.serving.api.mcp.agent_tools import AgentTools
from ferryman.serving.api.mcp.prompts import is_chat_task
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes.conversation import AnswerRequest
from ferryman.serving.mcp.errors import refuse_params


async def start_call(
    deps: ApiDependencies, caller: Caller, tools: AgentTools, name: str, arguments: Mapping[str, Any]
) -> Execution:
    """Store an execution that makes this call, have it delivered, and return it. Raise `McpError` for too long arguments, 403
    or 409 where nothing is started, and 429."""
    text = json.dumps(arguments, separators=(",", ":"))
    if len(text) > ARGUMENTS_CHARACTERS_MAX:
        raise refuse_params(f"arguments must have at most {ARGUMENTS_CHARACTERS_MAX:,} characters as JSON")
    task = await provide_chat_task(deps, caller, tools.agent)
    return await _start(deps, caller, task, input=text, called_tool=name)


async def start_task(deps: ApiDependencies, caller: Caller, task_id: str, text: str | None) -> Execution:
    """Store an execution of a task with `text` as its input, have it delivered, and return it. Raise as `start_call` does, and
    404 for a task that is not there, or is that of conversations."""
    task = await deps.tasks.get(task_id) if is_id(task_id) else None
    # as a task, that of conversations would have the tools that the agent's settings take out of them
    if task is None or not caller.sees(task) or is_chat_task(task):
        raise NotFoundError("task")
    return await _start(deps, caller, task, input=text)


async def ask_agent(
    deps: ApiDependencies, caller: Caller, agent: Agent, message: str, conversation_id: str | None
) -> Execution:
    """Store a message and the execution of its answer, and return that. Raise as `start_call` does, and 404 for a conversation
    that is not one of the agent's."""
    conversation: Conversation
    if conversation_id is None:
        task = await provide_chat_task(deps, caller, agent)
        await check_model(deps, caller, task, None)
        plan = await check_start(deps, caller)
        conversation = await begin_conversation(deps, caller, task, name=deps.ids.new("conv"), now=deps.clock.now())
    else:
        conversation = await find_conversation(deps, caller, conversation_id)
        if conversation.agent != agent.id:
            raise NotFoundError("conversation")
        known = await deps.tasks.get(conversation.task)
        if known is None or not caller.sees(known):
            raise ConflictError(TASK_GONE)
        task = known
        await check_model(deps, caller, task, None)
        plan = await check_start(deps, caller)
    question = Question(content=message, label=READ)
    once = IdempotentRequest(deps, caller, "", None)
    asking = Asking(
        deps=deps,
        caller=caller,
        conversation=conversation,
        task=task,
        plan=plan,
        traceparent=deps.tracer.traceparent(),
        is_from_client=True,
    )
    stored = await asking.ask(question, AnswerRequest(stream=True), once, content=write_input(question))
    return stored.execution


async def _start(deps: ApiDependencies, caller: Caller, task: Task, **fields: Any) -> Execution:
    plan = await check_start(deps, caller)
    return await start_stored(deps, caller, task, plan, is_from_client=True, **fields)
