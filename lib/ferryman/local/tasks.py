"""Tasks and their sealed credentials in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ferryman.domain.credential import Sealed
from ferryman.domain.task import Task
from ferryman.local.memory import Memory
from ferryman.ports import Stale


class MemoryTasks:
    """`ports.Tasks`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def get(self, task: str) -> Task | None:
        return self._memory.tasks.get(task)

    async def create(self, task: Task) -> None:
        if task.id in self._memory.tasks:
            raise ValueError("the task is there already")
        self._memory.tasks[task.id] = task

    async def update(self, task: Task, fields: Collection[str], *, since: datetime) -> bool:
        stored = self._memory.tasks.get(task.id)
        if stored is None:
            return False
        if stored.updated_at != since:
            raise Stale("changed by somebody else")
        change: dict[str, Any] = {name: getattr(task, name) for name in (*fields, "updated_at")}
        self._memory.tasks[task.id] = replace(stored, **change)
        return True

    async def count(self, owner: str) -> int:
        return sum(task.owner == owner for task in self._memory.tasks.values())

    async def list(self, owner: str) -> Sequence[Task]:
        found = (task for task in self._memory.tasks.values() if task.owner == owner)
        return sorted(found, key=lambda task: (task.created_at, task.id))

    async def delete(self, task: str) -> bool:
        self._memory.credentials.pop(task, None)
        self._memory.versions.pop(task, None)
        self._memory.connections.pop(task, None)
        self._memory.clusters.pop(task, None)
        return self._memory.tasks.pop(task, None) is not None


class MemoryCredentials:
    """`ports.Credentials`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def next_version(self, task: str, name: str) -> int:
        return self._memory.versions.get(task, {}).get(name, 0) + 1

    async def put(self, sealed: Sealed) -> None:
        label = sealed.label
        if label.task not in self._memory.tasks or await self.next_version(label.task, label.name) != label.version:
            raise Stale("the credential was stored by somebody else meanwhile")
        self._memory.versions.setdefault(label.task, {})[label.name] = label.version
        self._memory.credentials.setdefault(label.task, {})[label.name] = sealed

    async def reseal(self, before: Sealed, after: Sealed) -> bool:
        stored = self._memory.credentials.get(before.label.task, {})
        if stored.get(before.label.name) != before:
            return False
        stored[before.label.name] = replace(before, ciphertext=after.ciphertext, key_version=after.key_version)
        return True

    async def swap(self, before: Sealed, after: Sealed) -> bool:
        label = before.label
        stored = self._memory.credentials.get(label.task, {})
        if stored.get(label.name) != before or label.task not in self._memory.tasks:
            return False
        self._memory.versions[label.task][label.name] = after.label.version
        stored[label.name] = after
        return True

    async def list(self, task: str) -> Sequence[Sealed]:
        return tuple(self._memory.credentials.get(task, {}).values())

    async def delete(self, task: str, name: str) -> bool:
        return self._memory.credentials.get(task, {}).pop(name, None) is not None
