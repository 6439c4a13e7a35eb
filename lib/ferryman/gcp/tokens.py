"""Fetched tokens in Firestore: a document for each owner and auth, which its TTL deletes when the token has expired."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from ferryman.domain.credentials import token as tokens
from ferryman.domain.credentials.token import KNOWN, Fetch, Token, TokenSlot
from ferryman.gcp import documents
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import Condition, FirestoreStore, Transaction, filter_by, in_transaction


class FirestoreTokens(FirestoreStore):
    """`ports.Tokens`."""

    async def get(self, key: str) -> TokenSlot | None:
        return documents.read_or_none(TokenSlot, await self._places.locate_token(key).get())

    async def list(self, owner: str, task: str) -> Mapping[str, TokenSlot]:
        return await self._read_slots(("owner", "==", owner), ("task", "in", ["", task]))

    async def list_for_task(self, task: str) -> Mapping[str, TokenSlot]:
        return await self._read_slots(("task", "==", task))

    async def claim(self, key: str, owner: str, task: str, fetch: Fetch, *, stale: str | None, now: datetime) -> TokenSlot:
        claimed = await self._change(key, lambda slot: tokens.claim_fetch(slot, owner, task, fetch, stale=stale, now=now))
        assert claimed is not None, "claiming returns what is stored"
        return claimed

    async def put(self, key: str, token: Token) -> None:
        await self._change(key, lambda slot: tokens.finish_fetch(slot, token))

    async def release(self, key: str, fetch: str) -> None:
        await self._change(key, lambda slot: tokens.release_fetch(slot, fetch))

    async def reseal(self, key: str, before: TokenSlot, after: TokenSlot) -> None:
        await self._change(key, lambda slot: after if slot == before else None)

    @in_transaction
    async def _change(
        self, transaction: Transaction, key: str, change: Callable[[TokenSlot | None], TokenSlot | None]
    ) -> TokenSlot | None:
        """Apply `change` to the slot, and store the result unless it is the same slot or None. Return the result."""
        reference = self._places.locate_token(key)
        before = documents.read_or_none(TokenSlot, await reference.get(transaction=transaction))
        after = change(before)
        if after is not None and after is not before:
            transaction.set(reference, to_document(after))
        return after

    async def _read_slots(self, *conditions: Condition) -> dict[str, TokenSlot]:
        query = filter_by(self._client.collection("tokens"), *conditions)
        return {snapshot.id: documents.read(TokenSlot, snapshot.to_dict()) async for snapshot in query.stream()}


def to_document(slot: TokenSlot) -> dict[str, Any]:
    """Return the document of `slot`; `expire_at` is when nothing in it is of use any longer.

    A token is known for `KNOWN` after it expired: its service may accept it longer than it is used.
    """
    ends = [token.expires_at + KNOWN for token in slot.tokens]
    ends += [slot.fetch.until] if slot.fetch else []
    # without either there is nothing to keep, and a TTL in the past deletes the document at once
    return {**documents.write(slot), EXPIRE_AT: max(ends) if ends else datetime.fromtimestamp(0, UTC)}
