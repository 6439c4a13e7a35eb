"""Former values of credentials in Firestore: a document beside each credential's own, which its TTL takes away.

A document of its own, since a TTL deletes whole documents: what nobody looks for any longer goes though no call ever comes,
and what a deletion leaves to be looked for goes by itself.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credentials.former import FormerValues, add_former
from ferryman.gcp import documents, places
from ferryman.gcp.halts import get_together
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.transactions import transact

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncDocumentReference, AsyncTransaction

FormerEnding = tuple["AsyncDocumentReference", FormerValues | None]
"""Where former values stand, and what is to stand there; None where nothing changes."""


async def read_ending(
    transaction: AsyncTransaction, client: AsyncClient, task: str, name: str, *, now: datetime
) -> FormerEnding:
    """Read what `transaction` has to write so that the credential's value, if it has one, becomes a former one `now`."""
    live_at, former_at = places.locate_credential(client, task, name), places.locate_former(client, task, name)
    found = await get_together(client, [live_at, former_at], transaction)
    if not found[live_at.path].exists:
        return former_at, None
    ended = documents.read(SealedCredential, found[live_at.path].to_dict())
    stored = found[former_at.path]
    before = documents.read(FormerValues, stored.to_dict()) if stored.exists else None
    return former_at, add_former(before, ended, now=now)


def store_ending(transaction: AsyncTransaction, ending: FormerEnding) -> None:
    """Write what `read_ending` read."""
    reference, former = ending
    if former is not None:
        transaction.set(reference, to_document(former))


def to_document(former: FormerValues) -> dict[str, Any]:
    """The document of `former`: with the oldest key it needs, and when nothing in it is of use any longer."""
    return {**documents.write(former), "key_version": former.key_version, EXPIRE_AT: former.until}


async def replace_former(client: AsyncClient, before: FormerValues, after: FormerValues) -> bool:
    """Store `after` where `before` is still what is stored, and tell whether it did."""
    reference = places.locate_former(client, before.task, before.name)

    async def change(transaction: AsyncTransaction) -> bool:
        stored = (await reference.get(transaction=transaction)).to_dict()
        if stored is None or documents.read(FormerValues, stored) != before:
            return False
        if after.values:
            transaction.set(reference, to_document(after))
        else:
            transaction.delete(reference)
        return True

    return await transact(client.transaction(), change)
