"""The ports of consents under way."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from ferryman.domain.credentials.connection import Connection
from ferryman.domain.owners.idempotency import Completion


class Connections(Protocol):
    """The consents under way, by task and digest.

    `put` first removes expired ones; it raises `StaleError` when the task was deleted or has `most` under way, and stores
    `done` with the connection, or raises `AnsweredError` where the request was answered. `take` removes a consent and returns
    it, to one caller alone.
    """

    async def put(self, connection: Connection, *, now: datetime, most: int, done: Completion | None = None) -> None: ...
    async def take(self, task: str, digest: str) -> Connection | None: ...


class Connector(Protocol):
    """Has a key holder exchange a code for a token (OAuth), and store the token sealed to key `version`.

    `finish` returns the name of the credential that was stored. `iss` is the issuer that the authorization response named, if
    any. Raises `NotConnectedError` with a message for the owner, or `UnavailableError`.
    """

    async def finish(self, task: str, *, owner: str, digest: str, code: str, iss: str | None, version: int) -> str: ...
