"""Tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.client import answers
from ferryman.client.request import AnswerPage, ApiRequest, build_path, delete, get, patch, post, read_as, read_page


def create_task(task: Mapping[str, Any], *, key: str | None = None) -> ApiRequest[answers.TaskJson]:
    """Store a new task; `key` is an idempotency key of yours, for retries over several runs of a program."""
    return post(build_path("tasks"), read_as(answers.TaskJson), task, key=key)


def list_tasks(
    *,
    agent: str | None = None,
    enabled: bool | None = None,
    name: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> ApiRequest[AnswerPage[answers.ListedTaskJson]]:
    """Return a page of your tasks, oldest first, without their prompts: those of an agent, that are enabled or not, or of a
    name."""
    chosen = None if enabled is None else str(enabled).lower()
    return get(build_path("tasks"), read_page("tasks"), agent=agent, enabled=chosen, name=name, limit=limit, cursor=cursor)


def get_task(task: str) -> ApiRequest[answers.TaskJson]:
    """Return one task."""
    return get(build_path("tasks", task), read_as(answers.TaskJson))


def change_task(task: str, change: Mapping[str, Any]) -> ApiRequest[answers.TaskJson]:
    """Change some fields of a task."""
    return patch(build_path("tasks", task), read_as(answers.TaskJson), change)


def delete_task(task: str) -> ApiRequest[None]:
    """Delete a task and its credentials."""
    return delete(build_path("tasks", task))
