"""The task that a conversation's answers are made with: one that is named, or the agent's chat task."""

from __future__ import annotations

from contextlib import suppress

from ferryman.composition.api import ApiDependencies
from ferryman.domain.conversations.chat_task import build_chat_task, derive_chat_task
from ferryman.domain.ids import is_id
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.agent import Agent, AgentGoneError
from ferryman.serving.api.access import get_plan
from ferryman.serving.api.errors import ConflictError, NotFoundError
from ferryman.serving.api.rights import Caller

TASK_GONE = "nothing is started: the task of this conversation was deleted; begin another"
ARCHIVED = "the agent is archived: restore it first"


async def find_chat_task(deps: ApiDependencies, caller: Caller, name: str) -> Task:
    """Return the chat task of the agent of this id, or the task of this id (S3-40 has it in the place of an agent).

    The chat task is made where it is not there. Raise `NotFoundError`, and 409 for an archived agent.
    """
    agent = await _find_agent(deps, caller, name)
    if agent is not None:
        return await provide_chat_task(deps, caller, agent)
    task = await deps.tasks.get(name) if is_id(name) else None
    if task is None or not caller.sees(task):
        raise NotFoundError("agent")
    return task


async def provide_chat_task(deps: ApiDependencies, caller: Caller, agent: Agent) -> Task:
    """Return the chat task of `agent`, made where it is not there. Raise 409 for an archived agent."""
    if agent.archived:
        raise ConflictError(ARCHIVED)
    stored = await deps.tasks.get(derive_chat_task(agent.id))
    if stored is not None:
        return stored
    task = build_chat_task(agent, get_plan(deps, caller.owner), deps.tools, now=deps.clock.now())
    try:
        with suppress(ValueError):  # another request has just made it
            await deps.tasks.create(task)
    except AgentGoneError:
        raise NotFoundError("agent") from None
    return await deps.tasks.get(task.id) or task


async def find_agent_model(deps: ApiDependencies, caller: Caller, task: Task) -> str | None:
    """Return the model of the task's agent. Raise `NotFoundError`, and 409 for an archived agent."""
    agent = await _find_agent(deps, caller, task.agent)
    if agent is None:
        raise NotFoundError("agent")
    if agent.archived:
        raise ConflictError(ARCHIVED)
    return agent.model


async def _find_agent(deps: ApiDependencies, caller: Caller, name: str) -> Agent | None:
    return await deps.agents.get(name, owner=caller.owner.id, workspace=caller.workspace) if is_id(name) else None
