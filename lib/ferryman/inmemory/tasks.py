"""Tasks in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.page import Page, Position
from ferryman.domain.stale import StaleError
from ferryman.domain.tasks.schedule import SCHEDULED_PER_OWNER_MAX
from ferryman.domain.tasks.task import ALL_TASKS, TASKS_PER_OWNER_MAX, Task, TaskFilter, TaskSummary
from ferryman.domain.workspaces.agent import GOES_WITH_AGENT, AgentGoneError
from ferryman.inmemory import keyed
from ferryman.inmemory.agents import MemoryAgents
from ferryman.inmemory.memory import MemoryStore
from ferryman.inmemory.pages import cut_page, locate
from ferryman.inmemory.workspaces import check_workspace


class MemoryTasks(MemoryStore):
    """`ports.Tasks`."""

    async def get(self, task: str) -> Task | None:
        return self._memory.tasks.get(task)

    async def create(
        self,
        task: Task,
        *,
        most: int = TASKS_PER_OWNER_MAX,
        scheduled: int = SCHEDULED_PER_OWNER_MAX,
        done: Completion | None = None,
    ) -> None:
        keyed.check_completion(self._memory, done)
        stored = self._memory.tasks.get(task.id)
        if stored is not None:
            if (stored.owner, stored.created_at) == (task.owner, task.created_at):
                return
            raise ValueError("the task exists already")
        check_workspace(self._memory, task.workspace, owner=task.owner)
        if not await self._has_agent(task):
            raise AgentGoneError
        check_limit(len(self._owned(task.owner)), most, of="tasks")
        if task.schedule is not None:
            check_limit(self._scheduled(task.owner), scheduled, of="scheduled tasks")
        self._memory.tasks[task.id] = task
        keyed.store_completion(self._memory, done)

    async def update(
        self, task: Task, fields: Collection[str], *, since: datetime, scheduled: int = SCHEDULED_PER_OWNER_MAX
    ) -> bool:
        stored = self._memory.tasks.get(task.id)
        if stored is None:
            return False
        if stored.updated_at != since:
            raise StaleError("changed by somebody else")
        if "agent" in fields:
            if not await self._has_agent(stored):
                raise StaleError(GOES_WITH_AGENT)
            if not await self._has_agent(task):
                raise AgentGoneError
        if "schedule" in fields and task.schedule is not None and stored.schedule is None:
            check_limit(self._scheduled(task.owner), scheduled, of="scheduled tasks")
        change: dict[str, Any] = {name: getattr(task, name) for name in (*fields, "updated_at")}
        self._memory.tasks[task.id] = replace(stored, **change)
        return True

    async def list(
        self,
        workspace: str,
        *,
        which: TaskFilter = ALL_TASKS,
        after: Position | None = None,
        most: int = TASKS_PER_OWNER_MAX,
    ) -> Page[TaskSummary]:
        tasks = (task for task in self._memory.tasks.values() if task.workspace == workspace)
        oldest = sorted(filter(which.passes, tasks), key=locate)
        return cut_page([task for task in oldest if after is None or locate(task) > after], most)

    async def delete(self, task: str) -> bool:
        memory = self._memory
        belonging = (
            memory.credentials,
            memory.former,
            memory.versions,
            memory.connections,
            memory.clusters,
            memory.generations,
        )
        for documents in belonging:
            documents.pop(task, None)
        return memory.tasks.pop(task, None) is not None

    async def _has_agent(self, task: Task) -> bool:
        return await MemoryAgents(self._memory).get(task.agent, owner=task.owner, workspace=task.workspace) is not None

    def _owned(self, owner: str) -> Sequence[Task]:
        return [task for task in self._memory.tasks.values() if task.owner == owner]

    def _scheduled(self, owner: str) -> int:
        return sum(task.schedule is not None for task in self._owned(owner))
