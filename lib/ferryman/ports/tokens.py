"""The port of fetched tokens."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from ferryman.domain.credentials.token import Fetch, Token, TokenSlot


class Tokens(Protocol):
    """Fetched tokens, sealed, each under a key of its owner and use, and the fetch that is under way (single-flight).

    `claim` is one transaction: where there is no usable token (one that has expired, or that the fetch `stale` returned, is
    dropped) and no other fetch is under way, it stores the caller's `fetch`. It returns the slot as it is stored then: its
    `fetch` tells who is to fetch. `put` stores the token of a fetch and ends the fetch; it raises `StaleError`, with nothing
    stored, when another has taken over. `release` ends a fetch without a token. `list` returns the slots by key: of the task's
    credentials, and of the owner without any; `list_for_task` those of the task's credentials, "" for those of all owners
    without any. `reseal` stores `after` in the place of `before`, or nothing where the slot has changed since.
    """

    async def get(self, key: str) -> TokenSlot | None: ...
    async def list(self, owner: str, task: str) -> Mapping[str, TokenSlot]: ...
    async def claim(self, key: str, owner: str, task: str, fetch: Fetch, *, stale: str | None, now: datetime) -> TokenSlot: ...
    async def put(self, key: str, token: Token) -> None: ...
    async def release(self, key: str, fetch: str) -> None: ...
    async def list_for_task(self, task: str) -> Mapping[str, TokenSlot]: ...
    async def reseal(self, key: str, before: TokenSlot, after: TokenSlot) -> None: ...
