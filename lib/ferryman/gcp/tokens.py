"""Fetched tokens in Firestore: a document for each owner and auth, which its TTL takes away when the token has expired."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ferryman.domain.credentials import token as tokens
from ferryman.domain.credentials.token import KNOWN, Fetch, Token, TokenSlot
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.transactions import transact

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction


@translate_errors
class FirestoreTokens:
    """`ports.Tokens`."""

    def __init__(self, clients: FirestoreClient) -> None:
        self._clients = clients

    async def get(self, key: str) -> TokenSlot | None:
        return _read(await places.locate_token(self._clients.firestore(), key).get())

    async def list(self, owner: str, task: str) -> Mapping[str, TokenSlot]:
        from google.cloud.firestore import FieldFilter

        kept = self._clients.firestore().collection("tokens").where(filter=FieldFilter("owner", "==", owner))
        of_task = kept.where(filter=FieldFilter("task", "in", ["", task]))
        return {each.id: documents.read(TokenSlot, each.to_dict()) async for each in of_task.stream()}

    async def claim(self, key: str, owner: str, task: str, fetch: Fetch, *, stale: str | None, now: datetime) -> TokenSlot:
        found = await self._change(key, lambda slot: tokens.claim_fetch(slot, owner, task, fetch, stale=stale, now=now))
        assert found is not None, "taking answers what stands there"
        return found

    async def put(self, key: str, token: Token) -> None:
        await self._change(key, lambda slot: tokens.finish_fetch(slot, token))

    async def release(self, key: str, fetch: str) -> None:
        await self._change(key, lambda slot: tokens.release_fetch(slot, fetch))

    async def _change(self, key: str, change: Callable[[TokenSlot | None], TokenSlot | None]) -> TokenSlot | None:
        """What `change` makes of the slot, stored unless it is what stood there, or None."""
        client = self._clients.firestore()
        reference = places.locate_token(client, key)

        async def store(transaction: AsyncTransaction) -> TokenSlot | None:
            before = _read(await reference.get(transaction=transaction))
            after = change(before)
            if after is not None and after is not before:
                transaction.set(reference, to_document(after))
            return after

        return await transact(client.transaction(), store)


def _read(snapshot: Any) -> TokenSlot | None:
    return documents.read(TokenSlot, snapshot.to_dict()) if snapshot.exists else None


def to_document(slot: TokenSlot) -> dict[str, Any]:
    """The document of `slot`; `expire_at` is when nothing in it is of use any more.

    A token is known for as long again as the longest is used: it may be good at its service when it is not used any more.
    """
    ends = [each.expires_at + KNOWN for each in (slot.token, *slot.former) if each]
    ends += [slot.fetch.until] if slot.fetch else []
    # without either there is nothing to keep, and a TTL in the past takes it away at once
    return {**documents.write(slot), EXPIRE_AT: max(ends) if ends else datetime.fromtimestamp(0, UTC)}
