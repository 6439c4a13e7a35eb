"""The port of requests with an idempotency key."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from ferryman.domain.owners.idempotency import Completion, KeyedRequest


class KeyedRequests(Protocol):
    """The requests that were sent under a key, for a day.

    `claim` returns the request as it is stored then: with an answer, or with the caller's attempt. It raises `KeyReusedError`
    and `InProgressError`. `complete` stores the answer of a request whose effect is harmless to repeat; it raises
    `AnsweredError` where another attempt was answered. Every other effect takes the completion itself (`done`), and stores both
    in one transaction. `release` ends an attempt that had no effect.
    """

    async def claim(self, request: KeyedRequest, *, now: datetime) -> KeyedRequest: ...
    async def complete(self, completion: Completion) -> None: ...
    async def release(self, request: KeyedRequest) -> None: ...
