"""Members of workspaces: their roles, and the rights that follow from role, membership and API key together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum


class Right(StrEnum):
    """What a request may do. An API key has some of them as its scopes."""

    READ = "read"
    RUN = "run"
    """Start, cancel and halt executions."""
    APPROVE = "approve"
    """Decide about calls that wait for a person. No role has it: a membership says it apart."""
    MANAGE = "manage"
    """Change tasks, credentials, tools, agents, members and the workspace itself."""


class Role(StrEnum):
    """What a person is in a workspace."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


RIGHTS_OF = {
    Role.VIEWER: frozenset({Right.READ}),
    Role.OPERATOR: frozenset({Right.READ, Right.RUN}),
    Role.ADMIN: frozenset({Right.READ, Right.RUN, Right.MANAGE}),
}
EVERY_RIGHT = frozenset(Right)


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A person in a workspace.

    `approves` is the right to approve. `max_credits_month` are the credits that the person's executions may use in a month
    (UTC); None: no limit of their own.
    """

    owner: str
    workspace: str
    person: str
    role: Role
    approves: bool = False
    max_credits_month: Decimal | None = None
    created_at: datetime

    @property
    def rights(self) -> frozenset[Right]:
        """What the person may do in the workspace."""
        return list_rights(self.role, self.approves)


def list_rights(role: Role, approves: bool) -> frozenset[Right]:
    """Return the rights of a membership with this role, and the right to approve or not."""
    return RIGHTS_OF[role] | ({Right.APPROVE} if approves else frozenset())


def limit_rights(membership: Membership | None, scopes: Collection[Right]) -> frozenset[Right]:
    """Return the rights of a request: those of the membership that the key has as well; the owner's key needs no membership."""
    return (EVERY_RIGHT if membership is None else membership.rights) & frozenset(scopes)
