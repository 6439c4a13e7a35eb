"""Sessions of the console, and the links that sign in, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from ferryman.domain.console_sessions.link import LINKS_PER_KEY_MAX, SignInLink, order_links
from ferryman.domain.console_sessions.session import SESSIONS_PER_KEY_MAX, ConsoleSession, order_sessions
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.stale import StaleError
from ferryman.inmemory import keyed
from ferryman.inmemory.memory import Memory, MemoryStore
from ferryman.inmemory.workspaces import check_workspace


class MemoryConsoleSessions(MemoryStore):
    """`ports.ConsoleSessions`."""

    async def create(self, session: ConsoleSession, *, most: int = SESSIONS_PER_KEY_MAX) -> None:
        sessions = self._memory.console_sessions
        if sessions.get(session.id) == session:
            return
        self._check_key(session.digest)
        of_key = order_sessions(known for known in sessions.values() if known.digest == session.digest)
        for known in of_key[: max(len(of_key) - most + 1, 0)]:
            del sessions[known.id]
        sessions[session.id] = session

    async def find(self, session: str) -> ConsoleSession | None:
        return self._memory.console_sessions.get(session)

    async def list(self, owner: str, workspace: str, *, person: str | None = None, now: datetime) -> Sequence[ConsoleSession]:
        known = (
            session
            for session in self._memory.console_sessions.values()
            if (session.owner, session.key_workspace) == (owner, workspace) and person in (None, session.person)
        )
        return order_sessions(session for session in known if not session.is_expired(now))

    async def revoke(self, session: str, *, owner: str, workspace: str, person: str | None = None) -> bool:
        known = self._memory.console_sessions.get(session)
        if known is None or (known.owner, known.key_workspace) != (owner, workspace) or person not in (None, known.person):
            return False
        del self._memory.console_sessions[session]
        return True

    async def choose_workspace(self, session: str, workspace: str, *, owner: str) -> bool:
        known = self._memory.console_sessions.get(session)
        if known is None or known.owner != owner or known.key_workspace:
            return False
        if workspace:
            check_workspace(self._memory, workspace, owner=owner)
        self._memory.console_sessions[session] = replace(known, workspace=workspace)
        return True

    async def put_link(self, link: SignInLink, *, most: int = LINKS_PER_KEY_MAX, done: Completion | None = None) -> None:
        keyed.check_completion(self._memory, done)
        links = self._memory.sign_in_links
        if links.get(link.digest) == link:
            return
        self._check_key(link.key_digest)
        of_key = order_links(known for known in links.values() if known.key_digest == link.key_digest)
        for known in of_key[: max(len(of_key) - most + 1, 0)]:
            del links[known.digest]
        links[link.digest] = link
        keyed.store_completion(self._memory, done)

    async def take_link(self, digest: str, *, now: datetime) -> SignInLink | None:
        link = self._memory.sign_in_links.pop(digest, None)
        return None if link is None or link.is_expired(now) else link

    def _check_key(self, digest: str) -> None:
        if digest not in self._memory.keys:
            raise StaleError("the API key was revoked")


def forget_key(memory: Memory, digest: str) -> None:
    """Delete the sessions and the links of the API key with this `digest`, which is revoked."""
    for name in [name for name, session in memory.console_sessions.items() if session.digest == digest]:
        del memory.console_sessions[name]
    for name in [name for name, link in memory.sign_in_links.items() if link.key_digest == digest]:
        del memory.sign_in_links[name]
