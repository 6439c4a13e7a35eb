"""Fetched tokens in Firestore: a document for each owner and auth, which its TTL takes away when the token has expired."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ferryman.domain import token as tokens
from ferryman.domain.token import LIFETIME_S_MAX, Fetch, Slot, Token
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translated
from ferryman.gcp.firestore import Firestore
from ferryman.gcp.retention import EXPIRE_AT

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction


KNOWN = timedelta(seconds=LIFETIME_S_MAX)


@translated
class FirestoreTokens:
    """`ports.Tokens`."""

    def __init__(self, clients: Firestore) -> None:
        self._clients = clients

    async def get(self, key: str) -> Slot | None:
        return _read(await places.token(self._clients.firestore(), key).get())

    async def list(self, owner: str, task: str) -> Mapping[str, Slot]:
        from google.cloud.firestore import FieldFilter

        kept = self._clients.firestore().collection("tokens").where(filter=FieldFilter("owner", "==", owner))
        of_task = kept.where(filter=FieldFilter("task", "in", ["", task]))
        return {each.id: documents.read(Slot, each.to_dict()) async for each in of_task.stream()}

    async def take(self, key: str, owner: str, task: str, fetch: Fetch, *, stale: str | None, now: datetime) -> Slot:
        found = await self._change(key, lambda slot: tokens.taken(slot, owner, task, fetch, stale=stale, now=now))
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
    """The document of `slot`; `expire_at` is when nothing in it is of use any more.

    A token is known for as long again as the longest is used: it may be good at its service when it is not used any more.
    """
    ends = [each.expires_at + KNOWN for each in (slot.token, slot.former) if each]
    ends += [slot.fetch.until] if slot.fetch else []
    # without either there is nothing to keep, and a TTL in the past takes it away at once
    return {**documents.write(slot), EXPIRE_AT: max(ends) if ends else datetime.fromtimestamp(0, UTC)}
