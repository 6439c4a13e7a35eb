"""Fetched tokens in memory."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ferryman.domain.credentials import token as tokens
from ferryman.domain.credentials.token import Fetch, Token, TokenSlot
from ferryman.inmemory.memory import Memory


class MemoryTokens:
    """`ports.Tokens`."""

    def __init__(self, memory: Memory) -> None:
        self._slots = memory.tokens

    async def get(self, key: str) -> TokenSlot | None:
        return self._slots.get(key)

    async def list(self, owner: str, task: str) -> Mapping[str, TokenSlot]:
        return {key: slot for key, slot in self._slots.items() if slot.owner == owner and slot.task in ("", task)}

    async def claim(self, key: str, owner: str, task: str, fetch: Fetch, *, stale: str | None, now: datetime) -> TokenSlot:
        self._slots[key] = tokens.claim_fetch(self._slots.get(key), owner, task, fetch, stale=stale, now=now)
        return self._slots[key]

    async def put(self, key: str, token: Token) -> None:
        self._slots[key] = tokens.finish_fetch(self._slots.get(key), token)

    async def release(self, key: str, fetch: str) -> None:
        slot = tokens.release_fetch(self._slots.get(key), fetch)
        if slot is not None:
            self._slots[key] = slot

    async def list_for_task(self, task: str) -> Mapping[str, TokenSlot]:
        return {key: slot for key, slot in self._slots.items() if slot.task == task}

    async def reseal(self, key: str, before: TokenSlot, after: TokenSlot) -> None:
        if self._slots.get(key) == before:
            self._slots[key] = after
