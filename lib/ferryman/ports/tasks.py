"""The port of tasks."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.page import Page, Position
from ferryman.domain.tasks.schedule import SCHEDULED_PER_OWNER_MAX
from ferryman.domain.tasks.task import ALL_TASKS, TASKS_PER_OWNER_MAX, Task, TaskFilter, TaskSummary


class Tasks(Protocol):
    """Tasks. `update` and `delete` return whether the task existed; `delete` deletes its credentials too.

    `update` writes only `fields` of the task and its `updated_at`, and raises `StaleError`, with nothing written, when the
    stored task was changed since it was read, with `updated_at` equal to `since`. `create` of a task that it has created
    already, by owner and `created_at`, changes nothing. Both raise `LimitReachedError`, with nothing written, where the owner
    would have more than `most` tasks or `scheduled` of them with a schedule, counted in the transaction that writes.
    In that transaction they read the agent that the task would have, and raise `AgentGoneError`, with nothing written, where it
    is not there: a task is stored before its agent is deleted, or not at all. `update` takes no task from an agent that was
    deleted (`StaleError`): it goes with it.
    `create` raises `WorkspaceGoneError` where the workspace is not there or is being deleted, asked in that transaction too.
    It stores `done` in that transaction too, and raises `AnsweredError` where the request was answered.
    `list` returns at most `most` of the workspace's tasks that pass `which`, the oldest first, from behind `after`.
    """

    async def get(self, task: str) -> Task | None: ...
    async def create(
        self,
        task: Task,
        *,
        most: int = TASKS_PER_OWNER_MAX,
        scheduled: int = SCHEDULED_PER_OWNER_MAX,
        done: Completion | None = None,
    ) -> None: ...
    async def update(
        self, task: Task, fields: Collection[str], *, since: datetime, scheduled: int = SCHEDULED_PER_OWNER_MAX
    ) -> bool: ...
    async def list(
        self,
        workspace: str,
        *,
        which: TaskFilter = ALL_TASKS,
        after: Position | None = None,
        most: int = TASKS_PER_OWNER_MAX,
    ) -> Page[TaskSummary]: ...
    async def delete(self, task: str) -> bool: ...
