"""The port of the quotas of files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ferryman.domain.files.quota import FileQuota
from ferryman.domain.files.writes import StoredWrite

AnsweredCall = tuple[str, int]
"""A call by its execution and its number."""


class FileQuotas(Protocol):
    """What each workspace keeps in files. Every method returns the quota as it is stored then; `write` names one write, of the
    file `key`.

    `reserve` raises `QuotaExceededError` and `TooManyWritesError`, and `WorkspaceGoneError` where the workspace is not there or
    is being deleted, which its transaction asks. For a file of a call that has `answered`, it raises `StaleError` where the
    result is settled already: nobody would close the write.

    `settle` counts the first of `writes` once, and those before it under the same key that nobody has counted
    (`domain.files.writes`), until `release` forgets that it was reserved: release it when nothing delivers it any longer. It
    raises ValueError for a write that is not reserved. `close` settles and releases at once; without `writes`, for one that has
    stored nothing, it releases alone.
    """

    async def get(self, workspace: str) -> FileQuota: ...
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
    ) -> FileQuota: ...
    async def settle(self, workspace: str, writes: Sequence[StoredWrite]) -> FileQuota: ...
    async def close(self, workspace: str, write: str, writes: Sequence[StoredWrite]) -> FileQuota: ...
    async def release(self, workspace: str, write: str) -> FileQuota: ...
