"""Requests under an idempotency key in Firestore: a document each, which its TTL takes away after a day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from ferryman.domain.owners import idempotency
from ferryman.domain.owners.idempotency import Completion, KeyedRequest
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.transactions import transact

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncTransaction


@translate_errors
class FirestoreKeyedRequests:
    """`ports.KeyedRequests`."""

    def __init__(self, clients: FirestoreClient) -> None:
        self._clients = clients

    async def claim(self, asked: KeyedRequest, *, now: datetime) -> KeyedRequest:
        def change(found: KeyedRequest | None) -> KeyedRequest:
            if found is not None and (found.seed, found.attempt) == (asked.seed, asked.attempt):
                return found  # an attempt before this one was committed, unheard
            return idempotency.claim_key(found, asked, now=now)

        claimed = await self._change(asked.id, change)
        assert claimed is not None, "claiming answers what stands there"
        return claimed

    async def complete(self, completion: Completion) -> None:
        await self._change(completion.request.id, lambda found: idempotency.complete_request(found, completion))

    async def release(self, held: KeyedRequest) -> None:
        await self._change(held.id, lambda found: idempotency.release_attempt(found, held))

    async def _change(self, name: str, change: Callable[[KeyedRequest | None], KeyedRequest | None]) -> KeyedRequest | None:
        """What `change` makes of the request, stored unless it is what stood there, or None."""
        client = self._clients.firestore()

        async def store(transaction: AsyncTransaction) -> KeyedRequest | None:
            before = await _read(transaction, client, name)
            after = change(before)
            if after is not None and after is not before:
                _write(transaction, client, after)
            return after

        return await transact(client.transaction(), store)


async def read_completion(transaction: AsyncTransaction, client: AsyncClient, done: Completion | None) -> KeyedRequest | None:
    """Return the request that `done` completes, with its answer, for `store_completion`. Raise `AnsweredError`."""
    return None if done is None else idempotency.complete_request(await _read(transaction, client, done.request.id), done)


def store_completion(transaction: AsyncTransaction, client: AsyncClient, request: KeyedRequest | None) -> None:
    """Write what `read_completion` returned, in the transaction that read it."""
    if request is not None:
        _write(transaction, client, request)


async def _read(transaction: AsyncTransaction, client: AsyncClient, name: str) -> KeyedRequest | None:
    snapshot = await places.locate_keyed(client, name).get(transaction=transaction)
    return documents.read(KeyedRequest, snapshot.to_dict()) if snapshot.exists else None


def _write(transaction: AsyncTransaction, client: AsyncClient, request: KeyedRequest) -> None:
    transaction.set(places.locate_keyed(client, request.id), {**documents.write(request), EXPIRE_AT: request.expires_at})
