"""The port of fetched tokens."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from ferryman.domain.credentials.token import Fetch, Token, TokenSlot


class Tokens(Protocol):
    """Fetched tokens, sealed, each under a key that tells whose it is and what for; and the fetch that is under way.

    `claim` is one transaction: where there is no usable token (one that has expired, or that the fetch `stale` brought, is
    dropped) and no other fetch is under way, the caller's `fetch` is; it returns what is stored then, so that `fetch` in it
    tells who is to fetch. `put` stores what a fetch brought and ends it; it raises `StaleError`, with nothing stored, when
    another has taken over. `release` ends a fetch that brought nothing. `list` returns what is kept by key: what a task's
    credentials brought, and what the owner got without any.
    """

    async def get(self, key: str) -> TokenSlot | None: ...
    async def list(self, owner: str, task: str) -> Mapping[str, TokenSlot]: ...
    async def claim(self, key: str, owner: str, task: str, fetch: Fetch, *, stale: str | None, now: datetime) -> TokenSlot: ...
    async def put(self, key: str, token: Token) -> None: ...
    async def release(self, key: str, fetch: str) -> None: ...
