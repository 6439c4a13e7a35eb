"""API keys, members, invitations and audit entries in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ferryman.domain.jobs.job import Job
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.page import Page, Position
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.access import KeyAccess
from ferryman.domain.workspaces.api_key import KEYS_PER_PERSON_MAX, ApiKey, order_keys
from ferryman.domain.workspaces.audit import AuditEntry
from ferryman.domain.workspaces.member import Membership
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.person import (
    INVITATIONS_PER_WORKSPACE_MAX,
    MEMBERS_PER_WORKSPACE_MAX,
    PEOPLE_PER_OWNER_MAX,
    AlreadyMemberError,
    Invitation,
    Person,
    check_admin_left,
    join,
)
from ferryman.domain.workspaces.workspace import WorkspaceState, build_default_workspace, check_active
from ferryman.inmemory import keyed
from ferryman.inmemory.memory import MemoryStore
from ferryman.inmemory.workspaces import MemoryWorkspaces


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
        if self._memory.keys.get(digest) == key:
            return
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
                return True
        return False


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


class MemoryInvitations(MemoryStore):
    """`ports.Invitations`."""

    async def create(
        self,
        digest: str,
        invitation: Invitation,
        *,
        now: datetime,
        most: int = INVITATIONS_PER_WORKSPACE_MAX,
        done: Completion | None = None,
    ) -> None:
        keyed.check_completion(self._memory, done)
        if self._memory.invitations.get(digest) == invitation:
            return
        check_active(await MemoryWorkspaces(self._memory).get(invitation.workspace, owner=invitation.owner))
        if not self._is_backed(invitation):
            raise StaleError("who invites may not give these rights any more")
        open_ones = await self.list(invitation.owner, invitation.workspace, now=now)
        check_limit(len(open_ones), most, of="open invitations", owner="a workspace")
        self._memory.invitations[digest] = invitation
        keyed.store_completion(self._memory, done)

    async def list(self, owner: str, workspace: str, *, now: datetime) -> Sequence[Invitation]:
        stored = self._memory.invitations.values()
        here = [known for known in stored if (known.owner, known.workspace) == (owner, workspace) and not known.is_expired(now)]
        return sorted(here, key=lambda known: (known.created_at, known.id))

    async def withdraw(self, invitation: str, *, owner: str, workspace: str) -> bool:
        for digest, known in self._memory.invitations.items():
            if (known.id, known.owner, known.workspace) == (invitation, owner, workspace):
                del self._memory.invitations[digest]
                return True
        return False

    async def take(
        self,
        digest: str,
        *,
        person: str,
        is_new: bool,
        key: str,
        key_digest: str,
        now: datetime,
        people: int = PEOPLE_PER_OWNER_MAX,
        members: int = MEMBERS_PER_WORKSPACE_MAX,
    ) -> tuple[Membership, ApiKey] | None:
        memory, invitation = self._memory, self._memory.invitations.get(digest)
        if stored := memory.keys.get(key_digest):
            membership = memory.memberships.get((stored.workspace, stored.person))
            is_same = is_new or stored.person == person
            return (membership, stored) if membership is not None and is_same else None
        if invitation is None or invitation.is_expired(now):
            return None
        workspace = await MemoryWorkspaces(memory).get(invitation.workspace, owner=invitation.owner)
        if workspace is None or workspace.state is not WorkspaceState.ACTIVE:
            return None
        if not self._is_backed(invitation):
            return None
        known = memory.people.get(person)
        if not is_new and (known is None or known.owner != invitation.owner):
            return None
        here = [place for place in memory.memberships if place[0] == invitation.workspace]
        if (invitation.workspace, person) in here:
            raise AlreadyMemberError
        check_limit(len(here), members, of="members", owner="a workspace")
        if is_new:
            check_limit(sum(known.owner == invitation.owner for known in memory.people.values()), people, of="people")
        joined = join(invitation, person, key=key, now=now)
        if is_new:
            memory.people[person] = joined.person
        memory.memberships[invitation.workspace, person] = joined.membership
        memory.keys[key_digest] = joined.key
        memory.audit[joined.entry.id] = joined.entry
        del memory.invitations[digest]
        return joined.membership, joined.key

    def _is_backed(self, invitation: Invitation) -> bool:
        return invitation.is_backed_by(self._memory.memberships.get((invitation.workspace, invitation.invited_by)))


class MemoryAuditEntries(MemoryStore):
    """`ports.AuditEntries`."""

    async def add(self, entry: AuditEntry) -> None:
        self._memory.audit[entry.id] = entry

    async def end(self, entry: AuditEntry) -> None:
        if entry.id in self._memory.audit:
            self._memory.audit[entry.id] = entry

    async def forget(self, entry: AuditEntry) -> None:
        self._memory.audit.pop(entry.id, None)

    async def list(self, owner: str, workspace: str, *, after: Position | None = None, most: int) -> Page[AuditEntry]:
        here = [entry for entry in self._memory.audit.values() if (entry.owner, entry.workspace) == (owner, workspace)]
        newest = sorted(here, key=_locate, reverse=True)
        rest = [entry for entry in newest if after is None or _locate(entry) < after]
        return Page(items=tuple(rest[:most]), end=_locate(rest[most - 1]) if len(rest) > most else None)


def _locate(entry: AuditEntry) -> Position:
    return Position(entry.created_at, entry.id)
