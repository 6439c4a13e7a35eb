"""Direct links: URLs of the bucket itself, signed, that download one file for anybody who has them, without an API key."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ferryman.domain.files.links import LINK_LIFETIME

SENT_TYPE = "application/octet-stream"
"""As what the bucket sends a file by a direct link, whatever its type: no browser shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectLink:
    """A link that the bucket's service honours by itself. `url` opens the file for anybody, and so it is in no log.

    It is good until `expires_at`, in whole seconds. `is_bound`: it opens `version` alone; otherwise whatever is kept under the
    key when it is followed, since the service cannot be asked for one version in a URL.
    """

    url: str = field(repr=False)
    version: str
    expires_at: datetime
    is_bound: bool


def check_lifetime(lifetime: timedelta) -> int:
    """Return the seconds of a link's lifetime; raise ValueError unless they are whole, and 1 s to `LINK_LIFETIME`."""
    seconds = int(lifetime.total_seconds())
    if lifetime != timedelta(seconds=seconds) or not 1 <= seconds <= LINK_LIFETIME.total_seconds():
        raise ValueError(f"a link is good for 1 to {LINK_LIFETIME.total_seconds():g} whole seconds")
    return seconds
