"""The ports of consents under way."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from ferryman.domain.credentials.connection import Connection
from ferryman.domain.owners.idempotency import Completion


class Connections(Protocol):
    """The consents that are waited for, by task and digest.

    `put` first removes what has run out; it raises `StaleError` when the task is gone or has `most` under way, and stores
    `done` with the connection, or raises `AnsweredError` where the request was answered. `take` answers one and removes it:
    each is taken once, whoever asks at the same time.
    """

    async def put(self, connection: Connection, *, now: datetime, most: int, done: Completion | None = None) -> None: ...
    async def take(self, task: str, digest: str) -> Connection | None: ...


class Connector(Protocol):
    """Has a key holder exchange a code for a token, and store what it is given, sealed to key `version`.

    `iss` is the issuer that the authorization response named, if any. Raises `NotConnectedError` with what the owner is told,
    or `UnavailableError`.
    """

    async def finish(self, task: str, *, owner: str, digest: str, code: str, iss: str | None, version: int) -> str: ...
