"""The port of a task's sealed credentials, and of what they were before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ferryman.domain.credentials.credential import CREDENTIALS_PER_TASK_MAX, SealedCredential
from ferryman.domain.credentials.former import FormerValues


class Credentials(Protocol):
    """A task's sealed credentials. The version that must be current stands beside the task, so a rolled-back one shows.

    `put` raises `StaleError` when the label's version is not the next one, and `LimitReachedError` where the task has `most`
    others: counted in the transaction that writes. `reseal` stores ciphertext and key version of `after`,
    and tells whether it did: not where something else than `before` is stored by now. `swap` stores all of `after`, which is of
    the same version or of the next one, under the same condition.

    A value that is stored over, or deleted, becomes one of its credential's former values in the same write. `read_all` answers
    with one query what `list` does, and the former values by credential. `reseal_former` stores `after` where `before` is
    still what is stored, and tells whether it did; without any value left, nothing is kept.
    """

    async def next_version(self, task: str, name: str) -> int: ...
    async def put(self, sealed: SealedCredential, *, most: int = CREDENTIALS_PER_TASK_MAX) -> None: ...
    async def reseal(self, before: SealedCredential, after: SealedCredential) -> bool: ...
    async def swap(self, before: SealedCredential, after: SealedCredential) -> bool: ...
    async def list(self, task: str) -> Sequence[SealedCredential]: ...
    async def read_all(self, task: str) -> tuple[Sequence[SealedCredential], Sequence[FormerValues]]: ...
    async def reseal_former(self, before: FormerValues, after: FormerValues) -> bool: ...
    async def delete(self, task: str, name: str, *, now: datetime) -> bool: ...
