"""Invitations in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.member import Membership
from ferryman.domain.workspaces.person import (
    INVITATIONS_PER_WORKSPACE_MAX,
    MEMBERS_PER_WORKSPACE_MAX,
    PEOPLE_PER_OWNER_MAX,
    AlreadyMemberError,
    Invitation,
    join,
)
from ferryman.domain.workspaces.workspace import WorkspaceState, check_active
from ferryman.inmemory import keyed
from ferryman.inmemory.memory import MemoryStore
from ferryman.inmemory.workspaces import MemoryWorkspaces


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
