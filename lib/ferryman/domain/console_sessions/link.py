"""Sign-in links: a code that signs a browser in once, within minutes, with the API key that made it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ferryman.domain.workspaces.api_key import ApiKey

LINK_LIFETIME = timedelta(minutes=10)
LINKS_PER_KEY_MAX = 10
"""Links of one API key that nobody used yet: a new one takes the place of the oldest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInLink:
    """A link as stored. `digest` is the SHA-256 of its code in hex, `key_digest` that of the API key that it signs in with.

    `owner`, `workspace` and `person` are those of the key: "" for the owner's own key.
    """

    digest: str = field(repr=False)
    key_digest: str = field(repr=False)
    owner: str
    workspace: str
    person: str
    created_at: datetime
    expires_at: datetime

    def is_expired(self, now: datetime) -> bool:
        """Tell whether it signs nobody in any more `now`."""
        return self.expires_at <= now


def build_link(digest: str, key: ApiKey, key_digest: str, *, now: datetime) -> SignInLink:
    """Return a new link of the code with this `digest`, for the API key with `key_digest`."""
    ends = now + LINK_LIFETIME
    return SignInLink(
        digest=digest,
        key_digest=key_digest,
        owner=key.owner,
        workspace=key.workspace,
        person=key.person,
        created_at=now,
        expires_at=ends if key.expires_at is None else min(ends, key.expires_at),
    )


def order_links(links: Iterable[SignInLink]) -> list[SignInLink]:
    """Return links, the oldest first."""
    return sorted(links, key=lambda link: (link.created_at, link.digest))
