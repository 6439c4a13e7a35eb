"""Requests under an idempotency key in Firestore: a document each, which its TTL deletes after a day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from ferryman.domain.owners import idempotency
from ferryman.domain.owners.idempotency import Completion, KeyedRequest
from ferryman.gcp import documents
from ferryman.gcp.places import Places
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import FirestoreStore, Transaction, in_transaction


class FirestoreKeyedRequests(FirestoreStore):
    """`ports.KeyedRequests`."""

    async def claim(self, request: KeyedRequest, *, now: datetime) -> KeyedRequest:
        def change(before: KeyedRequest | None) -> KeyedRequest:
            if before is not None and (before.seed, before.attempt) == (request.seed, request.attempt):
                return before  # an earlier attempt was committed, and its answer lost
            return idempotency.claim_key(before, request, now=now)

        claimed = await self._change(request.id, change)
        assert claimed is not None, "claiming returns what is stored"
        return claimed

    async def complete(self, completion: Completion) -> None:
        await self._change(completion.request.id, lambda before: idempotency.complete_request(before, completion))

    async def release(self, request: KeyedRequest) -> None:
        await self._change(request.id, lambda before: idempotency.release_attempt(before, request))

    @in_transaction
    async def _change(
        self, transaction: Transaction, name: str, change: Callable[[KeyedRequest | None], KeyedRequest | None]
    ) -> KeyedRequest | None:
        """Apply `change` to the request, and store the result unless it is the same one or None. Return the result."""
        before = await _read(transaction, self._places, name)
        after = change(before)
        if after is not before:
            store_completion(transaction, self._places, after)
        return after


async def read_completion(transaction: Transaction, places: Places, done: Completion | None) -> KeyedRequest | None:
    """Return the request that `done` completes, with its answer, for `store_completion`. Raise `AnsweredError`."""
    return None if done is None else idempotency.complete_request(await _read(transaction, places, done.request.id), done)


def store_completion(transaction: Transaction, places: Places, request: KeyedRequest | None) -> None:
    """Write what `read_completion` returned, in the transaction that read it."""
    if request is not None:
        document = {**documents.write(request), EXPIRE_AT: request.expires_at}
        transaction.set(places.locate_keyed(request.id), document)


async def _read(transaction: Transaction, places: Places, name: str) -> KeyedRequest | None:
    return documents.read_or_none(KeyedRequest, await places.locate_keyed(name).get(transaction=transaction))
