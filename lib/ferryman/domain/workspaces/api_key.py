"""API keys: who asks, in which workspace, with which rights, and until when. Only the digest of a key is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ferryman.domain.workspaces.member import Right

KEYS_PER_PERSON_MAX = 20
USE_NOTED_EVERY = timedelta(minutes=1)
"""How often the last use of a key is written at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key as stored under its SHA-256.

    `id` names it to people, and is no part of the key. `person` is "" for the owner's own key, which has every right in every
    workspace of the owner; then `workspace` is "" too, as the request says which one. A key that is revoked has no document.
    """

    id: str = ""
    owner: str
    person: str = ""
    workspace: str = ""
    name: str = ""
    scopes: tuple[Right, ...] = tuple(Right)
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None

    def is_expired(self, now: datetime) -> bool:
        """Tell whether it is not valid any more `now`."""
        return self.expires_at is not None and self.expires_at <= now
