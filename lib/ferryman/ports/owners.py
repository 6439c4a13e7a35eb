"""The ports of owners and their API keys, and of the identity of our own functions' callers."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from ferryman.domain.owners.owner import Owner


class Owners(Protocol):
    """Owners and their API keys, which are stored as SHA-256 only."""

    async def get(self, owner: str) -> Owner | None: ...
    async def put(self, owner: Owner) -> None: ...
    async def by_key(self, digest: str) -> str | None: ...
    async def add_key(self, digest: str, owner: str, at: datetime) -> None: ...


class CallerIdentifier(Protocol):
    """Checks an identity token, and returns the caller's e-mail or raises PermissionError."""

    async def identify(self, authorization: str | None, *, audience: str) -> str: ...
