"""Invitations in Firestore: a document for each, under the digest of its token."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

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
    Person,
    join,
)
from ferryman.domain.workspaces.workspace import WorkspaceState, check_active
from ferryman.gcp import documents, keyed
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import FirestoreStore, Reference, Transaction, filter_by, in_transaction, read_together
from ferryman.gcp.workspace_documents import read_workspace


class FirestoreInvitations(FirestoreStore):
    """`ports.Invitations`."""

    @in_transaction
    async def create(
        self,
        transaction: Transaction,
        digest: str,
        invitation: Invitation,
        *,
        now: datetime,
        most: int = INVITATIONS_PER_WORKSPACE_MAX,
        done: Completion | None = None,
    ) -> None:
        reference = self._places.locate_invitation(digest)
        workspace_at = self._places.locate_workspace(invitation.workspace)
        stored = await read_together(self._client, [reference, workspace_at], transaction)
        if stored[reference.path].exists:
            return  # an earlier attempt was committed, and its answer lost
        answered = await keyed.read_completion(transaction, self._places, done)
        check_active(read_workspace(stored[workspace_at.path], owner=invitation.owner))
        if not await self._is_backed(invitation, transaction):
            raise StaleError("who invites may not give these rights any more")
        open_ones = await self._find_open(invitation.owner, invitation.workspace, now, transaction)
        check_limit(len(open_ones), most, of="open invitations", owner="a workspace")
        transaction.create(reference, {**documents.write(invitation), EXPIRE_AT: invitation.expires_at})
        keyed.store_completion(transaction, self._places, answered)

    async def list(self, owner: str, workspace: str, *, now: datetime) -> Sequence[Invitation]:
        open_ones = await self._find_open(owner, workspace, now)
        return sorted((known for _, known in open_ones), key=lambda known: (known.created_at, known.id))

    async def withdraw(self, invitation: str, *, owner: str, workspace: str) -> bool:
        query = filter_by(self._client.collection("invitations"), ("workspace", "==", workspace), ("id", "==", invitation))
        stored = [snapshot async for snapshot in query.stream() if snapshot.get("owner") == owner]
        for snapshot in stored:
            await snapshot.reference.delete()
        return bool(stored)

    @in_transaction
    async def take(
        self,
        transaction: Transaction,
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
        places, client = self._places, self._client
        reference, key_at = places.locate_invitation(digest), places.locate_key(key_digest)
        stored = await read_together(client, [reference, key_at], transaction)
        if stored_key := documents.read_or_none(ApiKey, stored[key_at.path]):
            # an earlier attempt was committed, and its answer lost
            is_same = is_new or stored_key.person == person
            membership = await self._read_membership(stored_key, transaction) if is_same else None
            return None if membership is None else (membership, stored_key)
        invitation = documents.read_or_none(Invitation, stored[reference.path])
        if invitation is None or invitation.is_expired(now):
            return None
        person_at, membership_at = places.locate_person(person), places.locate_membership(invitation.workspace, person)
        workspace_at = places.locate_workspace(invitation.workspace)
        read = await read_together(client, [person_at, membership_at, workspace_at], transaction)
        workspace = read_workspace(read[workspace_at.path], owner=invitation.owner)
        if workspace is None or workspace.state is not WorkspaceState.ACTIVE:
            return None
        if not await self._is_backed(invitation, transaction):
            return None
        known = documents.read_or_none(Person, read[person_at.path])
        if not is_new and (known is None or known.owner != invitation.owner):
            return None
        if read[membership_at.path].exists:
            raise AlreadyMemberError
        here = filter_by(client.collection("memberships"), ("workspace", "==", invitation.workspace))
        check_limit(await _count(here, transaction), members, of="members", owner="a workspace")
        if is_new:
            of_owner = filter_by(client.collection("people"), ("owner", "==", invitation.owner))
            check_limit(await _count(of_owner, transaction), people, of="people")
        joined = join(invitation, person, key=key, now=now)
        if is_new:
            transaction.create(person_at, documents.write(joined.person))
        transaction.create(membership_at, documents.write(joined.membership))
        transaction.create(key_at, documents.write(joined.key))
        transaction.create(places.locate_audit_entry(joined.entry.id), documents.write(joined.entry))
        transaction.delete(reference)
        return joined.membership, joined.key

    async def _is_backed(self, invitation: Invitation, transaction: Transaction) -> bool:
        """Read the membership of who made it with the transaction, so that one that changes meanwhile makes it run again."""
        if not invitation.invited_by:
            return invitation.is_backed_by(None)
        reference = self._places.locate_membership(invitation.workspace, invitation.invited_by)
        return invitation.is_backed_by(documents.read_or_none(Membership, await reference.get(transaction=transaction)))

    async def _read_membership(self, key: ApiKey, transaction: Transaction) -> Membership | None:
        reference = self._places.locate_membership(key.workspace, key.person)
        return documents.read_or_none(Membership, await reference.get(transaction=transaction))

    async def _find_open(
        self, owner: str, workspace: str, now: datetime, transaction: Transaction | None = None
    ) -> Sequence[tuple[Reference, Invitation]]:
        query = filter_by(self._client.collection("invitations"), ("workspace", "==", workspace))
        stored = [
            (snapshot.reference, documents.read(Invitation, snapshot.to_dict()))
            async for snapshot in query.stream(transaction=transaction)
        ]
        return [(reference, known) for reference, known in stored if known.owner == owner and not known.is_expired(now)]


async def _count(query: Any, transaction: Transaction) -> int:
    """Count the documents that `query` finds. Where another transaction adds one meanwhile, this one runs again."""
    return int((await query.count().get(transaction=transaction))[0][0].value)
