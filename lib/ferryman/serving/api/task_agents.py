"""The agent of a task: it must be in the task's workspace, not archived, and name a model where the task names none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.conversations.chat_task import derive_chat_task
from ferryman.domain.ids import is_id
from ferryman.domain.problem import Problem
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.ports.workspaces import Agents

NOT_FOUND = Problem("agent_id", "is not an agent of this workspace")
"""Of an agent that is nowhere, in another workspace, of another owner, or deleted by now: the answers are the same."""

ARCHIVED = Problem("agent_id", "is an archived agent: restore it first, or name another")
NO_MODEL = Problem("model", "is required: give a model, or an agent_id whose agent names one")


async def find_agent_problems(
    agents: Agents, task: Task, changes: Mapping[str, Any], *, needs_model: bool = True
) -> list[Problem]:
    """Return the problems of the agent that `task` would have, and of a model that neither of the two names.

    Without `needs_model` neither has to name one: what an archive has was stored before, and is asked again at its start.
    An agent that is not among the `changes` may have been archived since.
    """
    # each request of a chat may name a model
    names_model = task.model is not None or task.id == derive_chat_task(task.agent) or not needs_model
    is_default = task.agent == derive_default_agent(task.workspace)
    if names_model and (is_default or "agent" not in changes):
        return []
    agent = await agents.get(task.agent, owner=task.owner, workspace=task.workspace) if is_id(task.agent) else None
    if agent is None:
        return [NOT_FOUND]
    problems = [ARCHIVED] if agent.archived and "agent" in changes else []
    return problems if names_model or agent.model else [*problems, NO_MODEL]
