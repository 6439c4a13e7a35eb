"""Sessions of 2025-11-25 (page transports): remembered by this process for as long as they are used, and no longer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ferryman.tools.mcp.protocol.bounds import SESSION_S, SESSIONS_MAX


@dataclass(slots=True, kw_only=True, eq=False)
class ClientSession:
    """A session with one server: its id, None where the server has no sessions, and the revision that was agreed on.

    `used_s` is when the server answered in it last, by the clock of the cache.
    """

    id: str | None = field(repr=False)
    revision: str
    used_s: float = 0.0
    _count: int = 1  # of initialize

    def number(self) -> int:
        """Return the id of the next request: none is used twice in one session."""
        self._count += 1
        return self._count


class SessionCache:
    """The sessions of a process by key: the server and what authorizes its client. `clock` counts seconds."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._sessions: dict[str, ClientSession] = {}  # the one that was used first, first

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._sessions)

    def find(self, key: str) -> ClientSession | None:
        """Return the session of `key`, None where there is none or it was not used for too long."""
        session = self._sessions.get(key)
        if session is not None and self.clock() - session.used_s >= SESSION_S:
            del self._sessions[key]
            return None
        return session

    def put(self, key: str, session: ClientSession) -> None:
        """Remember that `session` was used just now; the one that was not used for longest makes room."""
        session.used_s = self.clock()
        self._sessions.pop(key, None)
        self._sessions[key] = session
        while len(self._sessions) > SESSIONS_MAX:
            del self._sessions[next(iter(self._sessions))]

    def forget(self, key: str) -> None:
        """Forget the session of `key`."""
        self._sessions.pop(key, None)
