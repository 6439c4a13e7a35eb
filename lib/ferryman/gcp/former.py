"""Former values of credentials in Firestore: a document beside each credential's own, which its TTL deletes.

A document of its own, since a TTL deletes whole documents: a value that nobody scans for any longer disappears although no call
ever comes, and what a deletion leaves to be scanned for disappears by itself.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credentials.former import FormerValues, add_former
from ferryman.gcp import documents
from ferryman.gcp.places import Places
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import Reference, Transaction, read_together

FormerEnding = tuple[Reference, FormerValues | None]
"""Where former values are stored, and what is to be stored there; None where nothing changes."""


async def read_ending(transaction: Transaction, places: Places, task: str, name: str, *, now: datetime) -> FormerEnding:
    """Read what `transaction` has to write so that the credential's value, if it has one, becomes a former one `now`."""
    live_at, former_at = places.locate_credential(task, name), places.locate_former(task, name)
    snapshots = await read_together(places.client, [live_at, former_at], transaction)
    ended = documents.read_or_none(SealedCredential, snapshots[live_at.path])
    if ended is None:
        return former_at, None
    return former_at, add_former(documents.read_or_none(FormerValues, snapshots[former_at.path]), ended, now=now)


def store_ending(transaction: Transaction, ending: FormerEnding) -> None:
    """Write what `read_ending` read."""
    reference, former = ending
    if former is not None:
        transaction.set(reference, to_document(former))


def to_document(former: FormerValues) -> dict[str, Any]:
    """Return the document of `former`, with the oldest key version it needs, and when nothing in it is of use any longer."""
    return {**documents.write(former), "key_version": former.key_version, EXPIRE_AT: former.until}
