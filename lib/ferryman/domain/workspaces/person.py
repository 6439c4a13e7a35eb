"""People: who acts with an API key of their own, and the invitations that bring them into a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ferryman.domain.problem import Problem
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.audit import AuditEntry
from ferryman.domain.workspaces.member import Membership, Right, Role, list_rights

PERSON_NAME_CHARACTERS_MAX = 100
PEOPLE_PER_OWNER_MAX = 200
INVITATION_LIFETIME = timedelta(days=7)
INVITATIONS_PER_WORKSPACE_MAX = 50
"""Those that are open: neither taken nor expired."""

MEMBERS_PER_WORKSPACE_MAX = 100
"""One list of all members is read whenever one of them changes, for the last admin."""

FIRST_KEY_NAME = "first key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person. Receipts, ledger and audit have the id alone; the name is here, and is deleted with the last membership."""

    id: str
    owner: str
    name: str = field(repr=False)
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """An invitation to a workspace, as stored under the SHA-256 of its token, which only who was invited has; it is taken once.

    `id` names it to people, and is no part of the token. `invited_by` is a person's id, "" for the owner.
    """

    id: str
    owner: str
    workspace: str
    name: str = field(repr=False)
    role: Role
    approves: bool = False
    invited_by: str
    created_at: datetime
    expires_at: datetime

    def is_expired(self, now: datetime) -> bool:
        """Tell whether it cannot be taken any more `now`."""
        return self.expires_at <= now

    def is_backed_by(self, inviter: Membership | None) -> bool:
        """Tell whether who made it may still give what it gives, with `inviter` as their membership; the owner needs none."""
        if not self.invited_by:
            return True
        return (
            inviter is not None
            and inviter.owner == self.owner
            and inviter.rights >= {Right.MANAGE, *list_rights(self.role, self.approves)}
        )


JOIN_ACTION = "joinWorkspace"
"""The operation of the API by which people join, as its description names it."""


class LastAdminError(Exception):
    """The workspace would be left without an admin. Nothing was changed."""


class AlreadyMemberError(Exception):
    """The person is a member of the workspace already. Nothing was changed."""


def find_person_name_problems(name: str) -> list[Problem]:
    """Return the problem of a person's name, if it has one."""
    if name.strip() and len(name) <= PERSON_NAME_CHARACTERS_MAX and name.isprintable():
        return []
    return [
        Problem(field="name", message=f"must be 1 to {PERSON_NAME_CHARACTERS_MAX} printable characters, and not only spaces")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What an invitation becomes when it is taken."""

    person: Person
    membership: Membership
    key: ApiKey
    entry: AuditEntry


def join(invitation: Invitation, person: str, *, key: str, now: datetime) -> Joined:
    """Return what taking `invitation` makes: of the person with this id, and of the first API key, whose id is `key`.

    That key has every scope: its rights are those of the membership at each moment.
    """
    owner, workspace = invitation.owner, invitation.workspace
    return Joined(
        person=Person(id=person, owner=owner, name=invitation.name, created_at=now),
        membership=Membership(
            owner=owner,
            workspace=workspace,
            person=person,
            role=invitation.role,
            approves=invitation.approves,
            created_at=now,
        ),
        key=ApiKey(id=key, owner=owner, person=person, workspace=workspace, name=FIRST_KEY_NAME, created_at=now),
        entry=AuditEntry(
            id=f"audit_{invitation.id}",
            owner=owner,
            workspace=workspace,
            person=person,
            key=key,
            action=JOIN_ACTION,
            targets=(invitation.id, person),
            done=True,
            created_at=now,
        ),
    )


def check_admin_left(members: Sequence[Membership], before: Membership, after: Membership | None) -> None:
    """Raise `LastAdminError` where the change of a membership, None for its end, leaves none of `members` an admin."""
    if before.role is not Role.ADMIN or (after is not None and after.role is Role.ADMIN):
        return
    if not any(known.role is Role.ADMIN for known in members if known.person != before.person):
        raise LastAdminError
