"""Requests under an idempotency key in Firestore: a document each, which its TTL deletes after a day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from ferryman.domain.owners import idempotency
from ferryman.domain.owners.idempotency import Completion, KeyedRequest
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import FirestoreStore

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncTransaction


@translate_errors
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

    async def _change(self, name: str, change: Callable[[KeyedRequest | None], KeyedRequest | None]) -> KeyedRequest | None:
        """Apply `change` to the request, and store the result unless it is the same one or None. Return the result."""
        client = self._client

        async def store(transaction: AsyncTransaction) -> KeyedRequest | None:
            before = await _read(transaction, client, name)
            after = change(before)
            if after is not before:
                store_completion(transaction, client, after)
            return after

        return await self._transact(store)


async def read_completion(transaction: AsyncTransaction, client: AsyncClient, done: Completion | None) -> KeyedRequest | None:
    """Return the request that `done` completes, with its answer, for `store_completion`. Raise `AnsweredError`."""
    return None if done is None else idempotency.complete_request(await _read(transaction, client, done.request.id), done)


def store_completion(transaction: AsyncTransaction, client: AsyncClient, request: KeyedRequest | None) -> None:
    """Write what `read_completion` returned, in the transaction that read it."""
    if request is not None:
        document = {**documents.write(request), EXPIRE_AT: request.expires_at}
        transaction.set(places.locate_keyed(client, request.id), document)


async def _read(transaction: AsyncTransaction, client: AsyncClient, name: str) -> KeyedRequest | None:
    snapshot = await places.locate_keyed(client, name).get(transaction=transaction)
    return documents.read_or_none(KeyedRequest, snapshot)
