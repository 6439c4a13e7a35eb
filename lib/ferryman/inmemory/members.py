"""Members in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from ferryman.domain.jobs.job import Job
from ferryman.domain.workspaces.member import Membership
from ferryman.domain.workspaces.person import (
    Person,
    check_admin_left,
)
from ferryman.inmemory.console_sessions import forget_key
from ferryman.inmemory.memory import MemoryStore


class MemoryMembers(MemoryStore):
    """`ports.Members`."""

    async def get(self, person: str, *, owner: str, workspace: str) -> Membership | None:
        known = self._memory.memberships.get((workspace, person))
        return known if known is not None and known.owner == owner else None

    async def find_person(self, person: str, *, owner: str) -> Person | None:
        known = self._memory.people.get(person)
        return known if known is not None and known.owner == owner else None

    async def list(self, owner: str, workspace: str) -> Sequence[tuple[Membership, Person | None]]:
        here = sorted(self._in(owner, workspace), key=lambda known: (known.created_at, known.person))
        return [(known, self._memory.people.get(known.person)) for known in here]

    async def update(self, membership: Membership, fields: Collection[str], *, forced: bool = False) -> bool:
        place = (membership.workspace, membership.person)
        stored = await self.get(membership.person, owner=membership.owner, workspace=membership.workspace)
        if stored is None:
            return False
        changes: dict[str, Any] = {name: getattr(membership, name) for name in fields}
        changed = replace(stored, **changes)
        if not forced:
            check_admin_left(self._in(stored.owner, stored.workspace), stored, changed)
        self._memory.memberships[place] = changed
        return True

    async def remove(self, person: str, *, owner: str, workspace: str, forced: bool = False, job: Job | None = None) -> bool:
        stored = await self.get(person, owner=owner, workspace=workspace)
        if stored is None:
            return False
        if not forced:
            check_admin_left(self._in(owner, workspace), stored, None)
        memory = self._memory
        del memory.memberships[workspace, person]
        for digest, key in list(memory.keys.items()):
            if (key.workspace, key.person) == (workspace, person):
                del memory.keys[digest]
                forget_key(memory, digest)
        for digest, invitation in list(memory.invitations.items()):
            if (invitation.workspace, invitation.invited_by) == (workspace, person):
                del memory.invitations[digest]
        if not any(known.person == person for known in memory.memberships.values()):
            memory.people.pop(person, None)
        if job is not None:
            memory.jobs[job.id] = job
        return True

    def _in(self, owner: str, workspace: str) -> Sequence[Membership]:
        known = self._memory.memberships.values()
        return [membership for membership in known if (membership.owner, membership.workspace) == (owner, workspace)]
