"""TLS sessions: a next connection of the same execution to the same host resumes the last one's (RFC 8446, 2.2).

A peer that resumes a session proves that it holds what the verified peer agreed on; any other is verified as at first.
"""

from __future__ import annotations

import ssl
import sys
import time
from collections.abc import Callable

from ferryman.egress.connection import HostConnection
from ferryman.egress.idle import Place
from ferryman.expiring import ExpiringCache

SESSION_S = 300.0
"""How long a session is kept for the next connection: a model's turn or a few."""

SESSIONS_MAX = 128
"""Sessions of one process; the oldest makes room. A peer decides how large one is, up to 100 KB or so."""


def frees_sessions(version: tuple[int, ...]) -> bool:
    """Tell whether this version of Python frees what reading a connection's session takes: 6 KB, and as much more as the peer
    likes. Earlier ones keep it until the process ends (https://github.com/python/cpython/issues/116810)."""
    return version >= (3, 13, 1) or (3, 12, 8) <= version < (3, 13)


class TlsSessions:
    """The sessions of a process, each for one execution and host; `clock` counts seconds.

    None is read or kept unless Python `frees` sessions: each connection is verified as the first one is.
    """

    def __init__(
        self,
        *,
        most: int = SESSIONS_MAX,
        clock: Callable[[], float] = time.monotonic,
        frees: bool = frees_sessions(sys.version_info[:3]),
    ) -> None:
        self._frees = frees
        self._sessions: ExpiringCache[Place, tuple[ssl.SSLContext, ssl.SSLSession]]
        self._sessions = ExpiringCache(most=most, life_s=SESSION_S, clock=clock)

    def __len__(self) -> int:
        """Return how many sessions are kept."""
        return len(self._sessions)

    def take(self, place: Place, tls: ssl.SSLContext) -> ssl.SSLSession | None:
        """Return the session for a connection of this place under `tls`, once: a ticket that is used twice could be linked
        (RFC 8446, C.4)."""
        context, session = self._sessions.pop(place) or (None, None)
        return session if context is tls else None

    def put(self, place: Place, connection: HostConnection) -> None:
        """Keep the session of a connection that has been answered, where its peer gave a ticket to resume it by."""
        encrypted = connection.tls if self._frees else None
        session = None if encrypted is None else encrypted.session
        if encrypted is not None and session is not None and session.has_ticket:
            self._sessions.put(place, (encrypted.context, session))
