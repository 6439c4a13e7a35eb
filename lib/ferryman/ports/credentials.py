"""The port of the sealed credentials of tasks, or of the MCP servers of agents, and of their former values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from ferryman.domain.credentials.credential import CREDENTIALS_PER_TASK_MAX, SealedCredential
from ferryman.domain.credentials.former import FormerValues


class Credentials(Protocol):
    """The sealed credentials of tasks; another store of the same kind has those of MCP servers, whose id is `task` then.

    The version that must be current is stored at the task, so that a rollback is detected; `read_versions` returns those of
    all, by name, also of what was deleted.

    `put` raises `StaleError` when the label's version is not the next one, and `LimitReachedError` where the task has `most`
    others, counted in the transaction that writes. `reseal` stores ciphertext and key version of `after`, unless something
    other than `before` is stored by now, and returns whether it did. `swap` stores all of `after`, which is of the same version
    or of the next one, under the same condition.

    A value that is replaced or deleted becomes one of its credential's former values in the same write, and the version that
    must be current is another from then on: who has opened the value goes on with it no longer. `read_all` returns with
    one query what `list` does, and the former values by credential. `reseal_former` stores `after`, or nothing where that is
    without values, if `before` is still what is stored, and returns whether it did.
    """

    async def read_versions(self, task: str) -> Mapping[str, int]: ...
    async def next_version(self, task: str, name: str) -> int: ...
    async def put(self, sealed: SealedCredential, *, most: int = CREDENTIALS_PER_TASK_MAX) -> None: ...
    async def reseal(self, before: SealedCredential, after: SealedCredential) -> bool: ...
    async def swap(self, before: SealedCredential, after: SealedCredential) -> bool: ...
    async def list(self, task: str) -> Sequence[SealedCredential]: ...
    async def read_all(self, task: str) -> tuple[Sequence[SealedCredential], Sequence[FormerValues]]: ...
    async def reseal_former(self, before: FormerValues, after: FormerValues) -> bool: ...
    async def delete(self, task: str, name: str, *, now: datetime) -> bool: ...
