"""Who may be brought into the victim's workspace to attack it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Somebody who takes an invitation of the victim's.

    `scopes` are those of a further key, which is then the one that asks (None: the first key asks). `elsewhere` says that it is
    another workspace of the owner's; `ends` what became of the key or the membership since: revoked, removed or expired.
    """

    name: str
    role: str
    scopes: tuple[str, ...] | None = None
    elsewhere: bool = False
    ends: str = ""


VIEWER, OPERATOR, ADMIN = (Member(name=role, role=role) for role in ("viewer", "operator", "admin"))
READER = Member(name="reader", role="admin", scopes=("read",))
STRANGER = Member(name="stranger", role="admin", elsewhere=True)
REVOKED, REMOVED, EXPIRED = (Member(name=ends, role="admin", ends=ends) for ends in ("revoked", "removed", "expired"))
