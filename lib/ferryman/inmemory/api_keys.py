"""API keys in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.access import KeyAccess
from ferryman.domain.workspaces.api_key import KEYS_PER_PERSON_MAX, ApiKey, order_keys
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import build_default_workspace
from ferryman.inmemory import keyed
from ferryman.inmemory.console_sessions import forget_key
from ferryman.inmemory.memory import MemoryStore


class MemoryApiKeys(MemoryStore):
    """`ports.ApiKeys`."""

    async def find(self, digest: str) -> ApiKey | None:
        return self._memory.keys.get(digest)

    async def read_access(self, key: ApiKey, workspace: str) -> KeyAccess:
        is_default = workspace == derive_default_workspace(key.owner)
        return KeyAccess(
            owner=self._memory.owners.get(key.owner),
            workspace=build_default_workspace(key.owner) if is_default else self._memory.workspaces.get(workspace),
            membership=self._memory.memberships.get((workspace, key.person)),
        )

    async def check(self, digest: str, key: ApiKey, workspace: str) -> tuple[ApiKey | None, KeyAccess]:
        return await self.find(digest), await self.read_access(key, workspace)

    async def note_use(self, digest: str, at: datetime) -> None:
        if digest in self._memory.keys:
            self._memory.keys[digest] = replace(self._memory.keys[digest], last_used_at=at)

    async def create(
        self, digest: str, key: ApiKey, *, most: int = KEYS_PER_PERSON_MAX, done: Completion | None = None
    ) -> None:
        keyed.check_completion(self._memory, done)
        before = self._memory.keys.get(digest)
        if before == key:
            return
        if before is not None:
            raise StaleError("there is one already")
        if key.person and (key.workspace, key.person) not in self._memory.memberships:
            raise StaleError("the person has left")
        check_limit(len(await self.list(key.owner, key.workspace, person=key.person)), most, of="API keys", owner="a member")
        self._memory.keys[digest] = key
        keyed.store_completion(self._memory, done)

    async def list(self, owner: str, workspace: str, *, person: str | None = None) -> Sequence[ApiKey]:
        known = (key for key in self._memory.keys.values() if (key.owner, key.workspace) == (owner, workspace))
        return order_keys(key for key in known if person is None or key.person == person)

    async def revoke(self, key: str, *, owner: str, workspace: str, person: str | None = None) -> bool:
        for digest, known in self._memory.keys.items():
            if (known.id, known.owner, known.workspace) == (key, owner, workspace) and person in (None, known.person):
                del self._memory.keys[digest]
                forget_key(self._memory, digest)
                return True
        return False
