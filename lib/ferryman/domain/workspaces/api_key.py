"""API keys: who asks, in which workspace, with which rights, and until when. Only the digest of a key is stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ferryman.domain.workspaces.member import Right

KEYS_PER_PERSON_MAX = 20
"""In one workspace."""

KEY_NAME_CHARACTERS_MAX = 100
NARROWED_RIGHTS = frozenset({Right.READ, Right.RUN})
"""What a key that is narrowed to tools may have at most: it neither approves nor manages."""

KEY_DAYS_MAX = 3650
"""The most days until a key expires."""

USE_NOTED_EVERY = timedelta(minutes=1)
"""How often the last use of a key is written at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key as stored under its SHA-256.

    `id` names it to people, and is no part of the key. `person` is "" for a key of the owner; one without a `workspace` is the
    owner's own key, which has every right in every workspace of the owner, as the request says which one. `expires_at` (UTC) is
    None for a key that does not expire. A key that is revoked has no document.

    A key with `tools` is narrowed to them (tool_scopes.py): it lists and calls them at /mcp, and elsewhere it only reads. None:
    it is not narrowed. One with an `issuer` is no key that anybody holds: it is the link of an identity, the `subject` of
    access tokens of that issuer, with the person (identity.py).
    """

    id: str = ""
    owner: str
    person: str = ""
    workspace: str = ""
    name: str = ""
    scopes: tuple[Right, ...] = tuple(Right)
    tools: tuple[str, ...] | None = None
    issuer: str = ""
    subject: str = field(default="", repr=False)
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None

    @property
    def is_own(self) -> bool:
        """Whether it is the owner's own key, which alone may do what concerns all workspaces."""
        return not self.person and not self.workspace

    def must_note_use(self, now: datetime) -> bool:
        """Tell whether its use `now` is worth a write."""
        return self.last_used_at is None or now - self.last_used_at >= USE_NOTED_EVERY

    def is_expired(self, now: datetime) -> bool:
        """Tell whether it is not valid any more `now`."""
        return self.expires_at is not None and self.expires_at <= now


def order_keys(keys: Iterable[ApiKey]) -> list[ApiKey]:
    """Return API keys, the oldest first."""
    return sorted(keys, key=lambda key: (key.created_at, key.id))
