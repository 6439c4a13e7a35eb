"""The ports of people: API keys, memberships and invitations, and the entries of who changed what."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from ferryman.domain.jobs.job import Job
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.page import Page, Position
from ferryman.domain.workspaces.access import KeyAccess
from ferryman.domain.workspaces.api_key import KEYS_PER_PERSON_MAX, ApiKey
from ferryman.domain.workspaces.audit import AuditEntry
from ferryman.domain.workspaces.member import Membership
from ferryman.domain.workspaces.person import (
    INVITATIONS_PER_WORKSPACE_MAX,
    MEMBERS_PER_WORKSPACE_MAX,
    PEOPLE_PER_OWNER_MAX,
    Invitation,
    Person,
)


class ApiKeys(Protocol):
    """API keys, stored under their SHA-256 (`digest`).

    `read_access` reads, at once, what a request with `key` in `workspace` rests on; `check` reads the key as well, as long as a
    request lasts. `note_use` writes when a key was used last, and nothing where it was revoked. `create` raises
    `LimitReachedError` where the person has `most` keys in the workspace, `StaleError` where the person is no member of it any
    more or another key has the digest, and `AnsweredError`.
    `list` returns those of `person`, or of everybody (None), in a workspace, the oldest first;
    `revoke` deletes one of them with its sessions of the console and its sign-in links, and returns whether there was one.
    """

    async def find(self, digest: str) -> ApiKey | None: ...
    async def read_access(self, key: ApiKey, workspace: str) -> KeyAccess: ...
    async def check(self, digest: str, key: ApiKey, workspace: str) -> tuple[ApiKey | None, KeyAccess]: ...
    async def note_use(self, digest: str, at: datetime) -> None: ...
    async def create(
        self, digest: str, key: ApiKey, *, most: int = KEYS_PER_PERSON_MAX, done: Completion | None = None
    ) -> None: ...
    async def list(self, owner: str, workspace: str, *, person: str | None = None) -> Sequence[ApiKey]: ...
    async def revoke(self, key: str, *, owner: str, workspace: str, person: str | None = None) -> bool: ...


class Members(Protocol):
    """The members of workspaces, who are people.

    `list` returns each membership with the person, the oldest first. `update` writes `fields` of a membership and returns
    whether there is one; `remove` ends it with the person's keys for the workspace, their sessions of the console and sign-in
    links, and the invitations that the person made, in one commit, which stores `job` too and deletes the person whose last
    membership it was. Both raise `LastAdminError` where no
    admin would be left, unless `forced`.
    """

    async def get(self, person: str, *, owner: str, workspace: str) -> Membership | None: ...
    async def find_person(self, person: str, *, owner: str) -> Person | None: ...
    async def list(self, owner: str, workspace: str) -> Sequence[tuple[Membership, Person | None]]: ...
    async def update(self, membership: Membership, fields: Collection[str], *, forced: bool = False) -> bool: ...
    async def remove(
        self, person: str, *, owner: str, workspace: str, forced: bool = False, job: Job | None = None
    ) -> bool: ...


class Invitations(Protocol):
    """Invitations, stored under the SHA-256 of their token (`digest`).

    `create` raises `LimitReachedError` where the workspace has `most` that can be taken `now`, `StaleError` where who invites
    may not give what it gives any more (`Invitation.is_backed_by`), `WorkspaceGoneError`, `WorkspaceClosedError` and
    `AnsweredError`, all asked in the transaction that stores it. `take` makes the membership and the
    API key with `key_digest`, in the workspace of the invitation, and of a person who `is_new` the person, with the name that
    the invitation gives; the same commit stores an audit entry and deletes the invitation. It returns membership and key, those
    that an earlier call with the same `key_digest` made where there was one, or None where there is no such invitation, or not
    any more, or who made it may not give that any more, or its workspace is not active, or the person is another owner's. It
    raises `LimitReachedError` and `AlreadyMemberError`.
    """

    async def create(
        self,
        digest: str,
        invitation: Invitation,
        *,
        now: datetime,
        most: int = INVITATIONS_PER_WORKSPACE_MAX,
        done: Completion | None = None,
    ) -> None: ...
    async def list(self, owner: str, workspace: str, *, now: datetime) -> Sequence[Invitation]: ...
    async def withdraw(self, invitation: str, *, owner: str, workspace: str) -> bool: ...
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
    ) -> tuple[Membership, ApiKey] | None: ...


class AuditEntries(Protocol):
    """The audit entries of workspaces.

    `end` stores that one is done, with its targets, and nothing where its workspace was deleted meanwhile; `forget` deletes one
    that came to nothing. `list` returns those of a workspace, the newest first.
    """

    async def add(self, entry: AuditEntry) -> None: ...
    async def end(self, entry: AuditEntry) -> None: ...
    async def forget(self, entry: AuditEntry) -> None: ...
    async def list(self, owner: str, workspace: str, *, after: Position | None = None, most: int) -> Page[AuditEntry]: ...
