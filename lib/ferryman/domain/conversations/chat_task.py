"""The chat task of an agent: what conversations have that name no task, made when its first message comes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime

from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.owners.plan import Plan
from ferryman.domain.tasks.task import CREDITS_DEFAULT, ITERATIONS_DEFAULT, Task
from ferryman.domain.tools.tool import Tool
from ferryman.domain.workspaces.agent import Agent

NAME = "chat"
PROMPT = "You talk with a person. Answer what the person says last."
_DIGITS = 30
_FREE = (NetworkPolicy.NONE, NetworkPolicy.PUBLIC_ANY, NetworkPolicy.OPERATOR_ENDPOINT)


def derive_chat_task(agent: str) -> str:
    """Return the id of the chat task of `agent`: no other agent's task has it."""
    return f"task_{hashlib.sha256(f'chat task of {agent}'.encode()).hexdigest()[:_DIGITS]}"


def build_chat_task(agent: Agent, plan: Plan, tools: Iterable[Tool], *, now: datetime) -> Task:
    """Return the chat task of `agent` as it is before anybody changed it, with those of `tools` that need nothing approved."""
    return Task(
        id=derive_chat_task(agent.id),
        owner=agent.owner,
        workspace=agent.workspace,
        agent=agent.id,
        name=NAME,
        description=f"Conversations with {agent.name}"[:1_000],
        task_prompt=PROMPT,
        tools=tuple(tool.name for tool in tools if is_free(tool)),
        max_iterations=min(ITERATIONS_DEFAULT, plan.iterations),
        max_credits=min(CREDITS_DEFAULT, plan.credits_per_execution),
        created_at=now,
        updated_at=now,
    )


def is_free(tool: Tool) -> bool:
    """Tell whether a tool works without a credential, and without a service or webhook that is approved for its task."""
    policy = tool.policy
    is_closed = tool.requires is not None or tool.names_credential or "tools" in (*policy.reads, *policy.changes)
    return not is_closed and policy.network in _FREE
