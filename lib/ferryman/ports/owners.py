"""The port of owners and their API keys."""

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
