"""Owners in Firestore: their documents, and their API keys by digest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ferryman.domain.owners.owner import Owner
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.store import FirestoreStore, filter_by, read_together

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction


@translate_errors
class FirestoreOwners(FirestoreStore):
    """`ports.Owners`; `add`, `rekey` and `list` are for the operator, and no function needs them."""

    async def get(self, owner: str) -> Owner | None:
        return documents.read_or_none(Owner, await places.locate_owner(self._client, owner).get())

    async def put(self, owner: Owner) -> None:
        await places.locate_owner(self._client, owner.id).set(documents.write(owner))

    async def by_key(self, digest: str) -> str | None:
        snapshot = await places.locate_key(self._client, digest).get()
        return str(snapshot.get("owner")) if snapshot.exists else None

    async def add_key(self, digest: str, owner: str, at: datetime) -> None:
        await places.locate_key(self._client, digest).create({"owner": owner, "created_at": at})

    async def add(self, owner: Owner, digest: str) -> bool:
        """Store a new owner with the API key of this digest. Return False, with nothing stored, where the name exists."""
        client = self._client
        reference, key = places.locate_owner(client, owner.id), places.locate_key(client, digest)

        async def store(transaction: AsyncTransaction) -> bool:
            snapshots = await read_together(client, [reference, key], transaction)
            if snapshots[reference.path].exists:
                return snapshots[key.path].exists  # then an earlier attempt was committed, and its answer lost
            transaction.create(reference, documents.write(owner))
            transaction.create(key, {"owner": owner.id, "created_at": owner.created_at})
            return True

        return await self._transact(store)

    async def rekey(self, owner: str, digest: str, at: datetime) -> None:
        """Make this the only API key of `owner`: any other is refused from now on. Raise KeyError for an unknown owner."""
        client = self._client
        keys = filter_by(client.collection("api_keys"), ("owner", "==", owner))

        async def store(transaction: AsyncTransaction) -> None:
            if not (await places.locate_owner(client, owner).get(transaction=transaction)).exists:
                raise KeyError(owner)
            for former in [snapshot.reference async for snapshot in keys.stream(transaction=transaction)]:
                transaction.delete(former)
            transaction.create(places.locate_key(client, digest), {"owner": owner, "created_at": at})

        await self._transact(store)

    async def list(self) -> Sequence[Owner]:
        """Return all owners, the oldest first."""
        owners = await documents.read_all(Owner, self._client.collection("owners"))
        return sorted(owners, key=lambda owner: (owner.created_at, owner.id))
