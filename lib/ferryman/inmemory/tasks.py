"""Tasks, their sealed credentials, and the consents to credentials that are under way, in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ferryman.domain.credentials.connection import Connection
from ferryman.domain.credentials.credential import CREDENTIALS_PER_TASK_MAX, SealedCredential
from ferryman.domain.credentials.former import FormerValues, add_former
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


class MemoryCredentials(MemoryStore):
    """`ports.Credentials`."""

    async def next_version(self, task: str, name: str) -> int:
        return self._memory.versions.get(task, {}).get(name, 0) + 1

    async def put(self, sealed: SealedCredential, *, most: int = CREDENTIALS_PER_TASK_MAX) -> None:
        label = sealed.label
        if label.task not in self._memory.tasks or await self.next_version(label.task, label.name) != label.version:
            raise StaleError("the credential was stored by somebody else meanwhile")
        stored = self._memory.credentials.get(label.task, {})
        if label.name not in stored:
            check_limit(len(stored), most, of="credentials", owner="a task")
        self._end(label.task, label.name, now=sealed.updated_at)
        self._memory.versions.setdefault(label.task, {})[label.name] = label.version
        self._memory.credentials.setdefault(label.task, {})[label.name] = sealed

    async def reseal(self, before: SealedCredential, after: SealedCredential) -> bool:
        stored = self._memory.credentials.get(before.label.task, {})
        if stored.get(before.label.name) != before:
            return False
        stored[before.label.name] = replace(before, ciphertext=after.ciphertext, key_version=after.key_version)
        return True

    async def swap(self, before: SealedCredential, after: SealedCredential) -> bool:
        label = before.label
        stored = self._memory.credentials.get(label.task, {})
        if stored.get(label.name) != before or label.task not in self._memory.tasks:
            return False
        if after.label.version != label.version:
            self._end(label.task, label.name, now=after.updated_at)
        self._memory.versions[label.task][label.name] = after.label.version
        stored[label.name] = after
        return True

    async def list(self, task: str) -> Sequence[SealedCredential]:
        return tuple(self._memory.credentials.get(task, {}).values())

    async def read_all(self, task: str) -> tuple[Sequence[SealedCredential], Sequence[FormerValues]]:
        return await self.list(task), tuple(self._memory.former.get(task, {}).values())

    async def reseal_former(self, before: FormerValues, after: FormerValues) -> bool:
        stored = self._memory.former.get(before.task, {})
        if stored.get(before.name) != before:
            return False
        if after.values:
            stored[before.name] = after
        else:
            del stored[before.name]
        return True

    async def delete(self, task: str, name: str, *, now: datetime) -> bool:
        self._end(task, name, now=now)
        if self._memory.credentials.get(task, {}).pop(name, None) is None:
            return False
        self._memory.versions.setdefault(task, {})[name] = await self.next_version(task, name)
        return True

    def _end(self, task: str, name: str, *, now: datetime) -> None:
        """Keep the stored value, if there is one, among the former ones."""
        ended = self._memory.credentials.get(task, {}).get(name)
        if ended is not None:
            former = self._memory.former.setdefault(task, {})
            former[name] = add_former(former.get(name), ended, now=now)


class MemoryConnections(MemoryStore):
    """`ports.Connections`."""

    async def put(self, connection: Connection, *, now: datetime, most: int, done: Completion | None = None) -> None:
        keyed.check_completion(self._memory, done)
        task = connection.label.task
        known = self._memory.connections.get(task, {})
        live = {digest: stored for digest, stored in known.items() if stored.expires_at > now}
        if task not in self._memory.tasks or len(live) >= most:
            raise StaleError("the task was deleted, or too many connections are under way")
        self._memory.connections[task] = {**live, connection.digest: connection}
        keyed.store_completion(self._memory, done)

    async def take(self, task: str, digest: str) -> Connection | None:
        return self._memory.connections.get(task, {}).pop(digest, None)
