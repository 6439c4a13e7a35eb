"""Sessions of the console: a browser that is signed in with an API key, of which the digest alone is stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.names import derive_default_workspace

LIFETIME = timedelta(hours=12)
SESSIONS_PER_KEY_MAX = 50
"""Of one API key: a new session ends the oldest one."""

BROWSER_CHARACTERS_MAX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSession:
    """A session as stored. The cookie that names its `id` is signed; the id alone lets nobody in.

    `key` is the id of the API key, and `digest` its SHA-256 in hex; a session lasts as long as that key is valid, at most, and
    has its rights at each moment. `person` is "" for the owner. `key_workspace` is the workspace that the key is for, "" for
    the owner's own key; `workspace` is where the session acts, "" for the owner's default one. `browser` is the User-Agent
    that signed in, as `clean_browser` returns it.
    """

    id: str
    owner: str
    person: str
    key: str
    digest: str = field(repr=False)
    key_workspace: str
    workspace: str
    browser: str
    created_at: datetime
    expires_at: datetime

    @property
    def current_workspace(self) -> str:
        """The id of the workspace in which it acts."""
        return self.workspace or derive_default_workspace(self.owner)

    def is_expired(self, now: datetime) -> bool:
        """Tell whether it is over `now`."""
        return self.expires_at <= now


def build_session(name: str, key: ApiKey, digest: str, *, browser: str, now: datetime) -> ConsoleSession:
    """Return a new session with the id `name`, of the API key with this `digest`: it acts where the key does."""
    ends = now + LIFETIME
    return ConsoleSession(
        id=name,
        owner=key.owner,
        person=key.person,
        key=key.id,
        digest=digest,
        key_workspace=key.workspace,
        workspace=key.workspace,
        browser=clean_browser(browser),
        created_at=now,
        expires_at=ends if key.expires_at is None else min(ends, key.expires_at),
    )


def clean_browser(agent: str) -> str:
    """Return the printable ASCII characters of a User-Agent header, `BROWSER_CHARACTERS_MAX` at most."""
    start = agent[: 4 * BROWSER_CHARACTERS_MAX]
    return "".join(letter for letter in start if " " <= letter <= "~").strip()[:BROWSER_CHARACTERS_MAX]


def order_sessions(sessions: Iterable[ConsoleSession]) -> list[ConsoleSession]:
    """Return sessions, the oldest first."""
    return sorted(sessions, key=lambda session: (session.created_at, session.id))
