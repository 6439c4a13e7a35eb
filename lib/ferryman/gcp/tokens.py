"""Fetched tokens in Firestore: a document for each owner and auth, which its TTL takes away when the token has expired."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ferryman.domain import token as tokens
from ferryman.domain.token import Fetch, Slot, Token
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translated
from ferryman.gcp.firestore import Firestore
from ferryman.gcp.retention import EXPIRE_AT

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction


@translated
class FirestoreTokens:
    """`ports.Tokens`."""

    def __init__(self, clients: Firestore) -> None:
        self._clients = clients

    async def get(self, key: str) -> Slot | None:
        return _read(await places.token(self._clients.firestore(), key).get())

    async def take(self, key: str, owner: str, fetch: Fetch, *, stale: str | None, now: datetime) -> Slot:
        found = await self._change(key, lambda slot: tokens.taken(slot, owner, fetch, stale=stale, now=now))
        assert found is not None, "taking answers what stands there"
        return found

    async def put(self, key: str, token: Token) -> None:
        await self._change(key, lambda slot: tokens.brought(slot, token))

    async def leave(self, key: str, fetch: str) -> None:
        await self._change(key, lambda slot: tokens.left(slot, fetch))

    async def _change(self, key: str, change: Callable[[Slot | None], Slot | None]) -> Slot | None:
        """What `change` makes of the slot, stored unless it is what stood there, or None."""
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        reference = places.token(client, key)

        @async_transactional
        async def store(transaction: AsyncTransaction) -> Slot | None:
            before = _read(await reference.get(transaction=transaction))
            after = change(before)
            if after is not None and after is not before:
                transaction.set(reference, written(after))
            return after

        found: Slot | None = await store(client.transaction())
        return found


def _read(snapshot: Any) -> Slot | None:
    return documents.read(Slot, snapshot.to_dict()) if snapshot.exists else None


def written(slot: Slot) -> dict[str, Any]:
    """The document of `slot`; `expire_at` is when nothing in it is of use any more."""
    ends = [moment for moment in (slot.token and slot.token.expires_at, slot.fetch and slot.fetch.until) if moment]
    # without either there is nothing to keep, and a TTL in the past takes it away at once
    return {**documents.write(slot), EXPIRE_AT: max(ends) if ends else datetime.fromtimestamp(0, UTC)}
