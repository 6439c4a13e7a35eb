"""People: who acts with an API key of their own, and the invitations that bring them into a workspace."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ferryman.domain.workspaces.member import Role

PERSON_NAME_CHARACTERS_MAX = 100
PEOPLE_PER_OWNER_MAX = 200
INVITATION_LIFETIME = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person. Receipts, ledger and audit have the id alone; the name is here, and is deleted with the person."""

    id: str
    owner: str
    name: str = field(repr=False)
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """An invitation to a workspace. `id` is the SHA-256 of its token, which only who was invited has; it is taken once."""

    id: str
    owner: str
    workspace: str
    name: str = field(repr=False)
    role: Role
    approves: bool = False
    invited_by: str
    created_at: datetime
    expires_at: datetime
