"""Quotas of files, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.domain.calls.call import check_answered
from ferryman.domain.files.quota import FileQuota, close_write, release_bytes, reserve_bytes, settle_writes
from ferryman.domain.files.writes import StoredWrite
from ferryman.inmemory.memory import MemoryStore
from ferryman.inmemory.workspaces import check_workspace
from ferryman.ports.file_quotas import AnsweredCall


class MemoryFileQuotas(MemoryStore):
    """`ports.FileQuotas`."""

    async def get(self, workspace: str) -> FileQuota:
        return self._memory.file_quotas.get(workspace) or FileQuota(id=workspace)

    async def reserve(
        self,
        workspace: str,
        write: str,
        *,
        owner: str,
        size_bytes: int,
        limit_bytes: int,
        now: datetime,
        key: str = "",
        answered: AnsweredCall | None = None,
    ) -> FileQuota:
        check_workspace(self._memory, workspace, owner=owner)
        if answered is not None:
            execution, seq = answered
            check_answered(self._memory.tickets.get(execution, {}).get(seq))
        quota = await self.get(workspace)
        return self._store(reserve_bytes(quota, write, size_bytes=size_bytes, limit_bytes=limit_bytes, now=now, key=key))

    async def settle(self, workspace: str, writes: Sequence[StoredWrite]) -> FileQuota:
        return self._store(settle_writes(await self.get(workspace), writes))

    async def close(self, workspace: str, write: str, writes: Sequence[StoredWrite]) -> FileQuota:
        return self._store(close_write(await self.get(workspace), write, writes))

    async def release(self, workspace: str, write: str) -> FileQuota:
        return self._store(release_bytes(await self.get(workspace), write))

    def _store(self, quota: FileQuota) -> FileQuota:
        self._memory.file_quotas[quota.id] = quota
        return quota
