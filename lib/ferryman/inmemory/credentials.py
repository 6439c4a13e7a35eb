"""Sealed credentials of tasks and MCP servers, and the consents to credentials that are under way, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ferryman.domain.credentials.connection import Connection
from ferryman.domain.credentials.credential import CREDENTIALS_PER_TASK_MAX, SealedCredential
from ferryman.domain.credentials.former import FormerValues, add_former
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.stale import StaleError
from ferryman.inmemory import keyed
from ferryman.inmemory.memory import Memory, MemoryStore

TASKS, MCP_SERVERS = "tasks", "mcp_servers"


class HolderStore(MemoryStore):
    """A port over what holders have: tasks, or MCP servers. What a task has is by its id, what another has by its place."""

    def __init__(self, memory: Memory, holders: str = TASKS) -> None:
        super().__init__(memory)
        self._holders = holders

    def _exists(self, holder: str) -> bool:
        stored: Mapping[str, Any] = self._memory.tasks if self._holders == TASKS else self._memory.mcp_servers
        return holder in stored

    def _place(self, holder: str) -> str:
        return holder if self._holders == TASKS else f"{self._holders}/{holder}"


class MemoryCredentials(HolderStore):
    """`ports.Credentials`."""

    async def read_versions(self, task: str) -> Mapping[str, int]:
        return dict(self._memory.versions.get(self._place(task), {}))

    async def next_version(self, task: str, name: str) -> int:
        return self._memory.versions.get(self._place(task), {}).get(name, 0) + 1

    async def put(self, sealed: SealedCredential, *, most: int = CREDENTIALS_PER_TASK_MAX) -> None:
        label = sealed.label
        if not self._exists(label.task) or await self.next_version(label.task, label.name) != label.version:
            raise StaleError("the credential was stored by somebody else meanwhile")
        stored = self._memory.credentials.get(self._place(label.task), {})
        if label.name not in stored:
            check_limit(len(stored), most, of="credentials", owner="a task" if self._holders == TASKS else "an MCP server")
        self._end(label.task, label.name, now=sealed.updated_at)
        self._memory.versions.setdefault(self._place(label.task), {})[label.name] = label.version
        self._memory.credentials.setdefault(self._place(label.task), {})[label.name] = sealed

    async def reseal(self, before: SealedCredential, after: SealedCredential) -> bool:
        stored = self._memory.credentials.get(self._place(before.label.task), {})
        if stored.get(before.label.name) != before:
            return False
        stored[before.label.name] = replace(before, ciphertext=after.ciphertext, key_version=after.key_version)
        return True

    async def swap(self, before: SealedCredential, after: SealedCredential) -> bool:
        label = before.label
        stored = self._memory.credentials.get(self._place(label.task), {})
        if stored.get(label.name) != before or not self._exists(label.task):
            return False
        if after.label.version != label.version:
            self._end(label.task, label.name, now=after.updated_at)
        self._memory.versions[self._place(label.task)][label.name] = after.label.version
        stored[label.name] = after
        return True

    async def list(self, task: str) -> Sequence[SealedCredential]:
        return tuple(self._memory.credentials.get(self._place(task), {}).values())

    async def read_all(self, task: str) -> tuple[Sequence[SealedCredential], Sequence[FormerValues]]:
        return await self.list(task), tuple(self._memory.former.get(self._place(task), {}).values())

    async def reseal_former(self, before: FormerValues, after: FormerValues) -> bool:
        stored = self._memory.former.get(self._place(before.task), {})
        if stored.get(before.name) != before:
            return False
        if after.values:
            stored[before.name] = after
        else:
            del stored[before.name]
        return True

    async def delete(self, task: str, name: str, *, now: datetime) -> bool:
        self._end(task, name, now=now)
        if self._memory.credentials.get(self._place(task), {}).pop(name, None) is None:
            return False
        self._memory.versions.setdefault(self._place(task), {})[name] = await self.next_version(task, name)
        return True

    def _end(self, task: str, name: str, *, now: datetime) -> None:
        """Keep the stored value, if there is one, among the former ones."""
        ended = self._memory.credentials.get(self._place(task), {}).get(name)
        if ended is not None:
            former = self._memory.former.setdefault(self._place(task), {})
            former[name] = add_former(former.get(name), ended, now=now)


class MemoryConnections(HolderStore):
    """`ports.Connections`."""

    async def put(self, connection: Connection, *, now: datetime, most: int, done: Completion | None = None) -> None:
        keyed.check_completion(self._memory, done)
        task = connection.label.task
        known = self._memory.connections.get(self._place(task), {})
        live = {digest: stored for digest, stored in known.items() if stored.expires_at > now}
        if not self._exists(task) or len(live) >= most:
            raise StaleError("it was deleted meanwhile, or too many connections are under way")
        self._memory.connections[self._place(task)] = {**live, connection.digest: connection}
        keyed.store_completion(self._memory, done)

    async def take(self, task: str, digest: str) -> Connection | None:
        return self._memory.connections.get(self._place(task), {}).pop(digest, None)
