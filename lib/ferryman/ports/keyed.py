"""The port of requests that carry an idempotency key."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from ferryman.domain.owners.idempotency import Completion, KeyedRequest


class KeyedRequests(Protocol):
    """The requests that were sent under a key, for a day.

    `claim` answers the request as it stands: with an answer, or with an attempt that is the caller's. It raises
    `KeyReusedError` and `InProgressError`. `complete` stores the answer of a request whose effect may be had again without
    harm; it raises `AnsweredError` where another attempt was answered. Everything else that has an effect takes the completion
    itself (`done`), and stores both in one transaction. `release` ends an attempt that came to nothing.
    """

    async def claim(self, asked: KeyedRequest, *, now: datetime) -> KeyedRequest: ...
    async def complete(self, completion: Completion) -> None: ...
    async def release(self, held: KeyedRequest) -> None: ...
