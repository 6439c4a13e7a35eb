"""The port of the console's sessions, and of the links that sign in once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ferryman.domain.console_sessions.link import LINKS_PER_KEY_MAX, SignInLink
from ferryman.domain.console_sessions.session import SESSIONS_PER_KEY_MAX, ConsoleSession
from ferryman.domain.owners.idempotency import Completion


class ConsoleSessions(Protocol):
    """Sessions by id, and links by the SHA-256 of their code.

    `create` and `put_link` raise `StaleError` where there is no such API key any more; where the key has `most`, the oldest
    goes with the same commit. `put_link` raises `AnsweredError`. `find` returns an expired session too. `list` returns those
    that are not over of `person`, or of everybody (None), whose API keys are for `workspace`, "" for the owner's own one, the
    oldest first; `revoke` deletes one of them, and returns whether there was one. `choose_workspace` has a session of the
    owner's own API key act in a workspace of the owner, "" for the default one, and returns whether there is such a session; it
    raises `WorkspaceGoneError`. `take_link` deletes a link and returns it to one caller alone: None where there is no such
    link, or not any more.
    """

    async def create(self, session: ConsoleSession, *, most: int = SESSIONS_PER_KEY_MAX) -> None: ...
    async def find(self, session: str) -> ConsoleSession | None: ...
    async def list(
        self, owner: str, workspace: str, *, person: str | None = None, now: datetime
    ) -> Sequence[ConsoleSession]: ...
    async def revoke(self, session: str, *, owner: str, workspace: str, person: str | None = None) -> bool: ...
    async def choose_workspace(self, session: str, workspace: str, *, owner: str) -> bool: ...
    async def put_link(self, link: SignInLink, *, most: int = LINKS_PER_KEY_MAX, done: Completion | None = None) -> None: ...
    async def take_link(self, digest: str, *, now: datetime) -> SignInLink | None: ...
