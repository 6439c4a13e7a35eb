"""Agents of a workspace, and what each may call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.client import answers
from ferryman.client.request import (
    AnswerPage,
    ApiRequest,
    Json,
    build_path,
    delete_by_job,
    get,
    patch,
    post,
    read_as,
    read_page,
)


def create_agent(agent: Mapping[str, Any], *, key: str | None = None) -> ApiRequest[answers.AgentJson]:
    """Create an agent, from a `template` if you like; `key` is an idempotency key of yours."""
    return post(build_path("agents"), read_as(answers.AgentJson), agent, key=key)


def list_agents(*, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[answers.AgentJson]]:
    """Return a page of the workspace's agents."""
    return get(build_path("agents"), read_page("agents"), limit=limit, cursor=cursor)


def get_agent(agent: str) -> ApiRequest[answers.AgentJson]:
    """Return one agent."""
    return get(build_path("agents", agent), read_as(answers.AgentJson))


def change_agent(agent: str, change: Mapping[str, Any]) -> ApiRequest[answers.AgentJson]:
    """Change some fields of an agent."""
    return patch(build_path("agents", agent), read_as(answers.AgentJson), change)


def archive_agent(agent: str) -> ApiRequest[answers.AgentJson]:
    """Put an agent aside: none of its tasks is started until it is restored."""
    return post(build_path("agents", agent, "archive"), read_as(answers.AgentJson))


def restore_agent(agent: str) -> ApiRequest[answers.AgentJson]:
    """Make an archived agent active again."""
    return post(build_path("agents", agent, "restore"), read_as(answers.AgentJson))


def delete_agent(agent: str, *, tasks: str = "refuse") -> ApiRequest[answers.JobJson]:
    """Delete an agent; return the job that does so. One that has tasks goes with them (`tasks="delete"`) or not at all."""
    return delete_by_job(build_path("agents", agent), read_as(answers.JobJson), tasks=tasks)


def list_policy(
    agent: str, *, task: str | None = None, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[Json]]:
    """Return a page of the tools: whether the agent may call each, as this `task`, and which levels take it away."""
    return get(build_path("agents", agent, "policy"), read_page("tools"), task=task, limit=limit, cursor=cursor)
