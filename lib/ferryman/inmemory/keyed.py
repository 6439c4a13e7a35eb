"""Requests under an idempotency key, in memory."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.owners import idempotency
from ferryman.domain.owners.idempotency import Completion, KeyedRequest
from ferryman.inmemory.memory import Memory, MemoryStore


class MemoryKeyedRequests(MemoryStore):
    """`ports.KeyedRequests`."""

    async def claim(self, request: KeyedRequest, *, now: datetime) -> KeyedRequest:
        claimed = idempotency.claim_key(self._memory.keyed.get(request.id), request, now=now)
        self._memory.keyed[request.id] = claimed
        return claimed

    async def complete(self, completion: Completion) -> None:
        self._memory.keyed[completion.request.id] = complete_request(self._memory, completion)

    async def release(self, request: KeyedRequest) -> None:
        released = idempotency.release_attempt(self._memory.keyed.get(request.id), request)
        if released is not None:
            self._memory.keyed[request.id] = released


def complete_request(memory: Memory, completion: Completion) -> KeyedRequest:
    """Return the request with its answer, to be stored with what it does. Raise `AnsweredError`."""
    return idempotency.complete_request(memory.keyed.get(completion.request.id), completion)


def check_completion(memory: Memory, done: Completion | None) -> None:
    """Raise `AnsweredError` where the request that `done` completes was answered already."""
    if done is not None:
        complete_request(memory, done)


def store_completion(memory: Memory, done: Completion | None) -> None:
    """Store the answer, beside what was just stored."""
    if done is not None:
        memory.keyed[done.request.id] = complete_request(memory, done)
