"""Owners in Firestore: their documents, and their API keys by digest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ferryman.domain.owners.owner import Owner
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.halts import get_together
from ferryman.gcp.transactions import transact

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction


@translate_errors
class FirestoreOwners:
    """`ports.Owners`."""

    def __init__(self, clients: FirestoreClient) -> None:
        self._clients = clients

    async def get(self, owner: str) -> Owner | None:
        snapshot = await places.locate_owner(self._clients.firestore(), owner).get()
        return documents.read(Owner, snapshot.to_dict()) if snapshot.exists else None

    async def put(self, owner: Owner) -> None:
        await places.locate_owner(self._clients.firestore(), owner.id).set(documents.write(owner))

    async def by_key(self, digest: str) -> str | None:
        snapshot = await places.locate_key(self._clients.firestore(), digest).get()
        return str(snapshot.get("owner")) if snapshot.exists else None

    async def add_key(self, digest: str, owner: str, at: datetime) -> None:
        await places.locate_key(self._clients.firestore(), digest).create({"owner": owner, "created_at": at})

    async def add(self, owner: Owner, digest: str) -> bool:
        """Store a new owner together with the API key of this digest. False, with nothing stored, where the name is taken.

        Only who runs the house needs it.
        """
        client = self._clients.firestore()
        reference, key = places.locate_owner(client, owner.id), places.locate_key(client, digest)

        async def store(transaction: AsyncTransaction) -> bool:
            found = await get_together(client, [reference, key], transaction)
            if found[reference.path].exists:
                return found[key.path].exists  # then an attempt before this one was committed, unheard
            transaction.create(reference, documents.write(owner))
            transaction.create(key, {"owner": owner.id, "created_at": owner.created_at})
            return True

        return await transact(client.transaction(), store)

    async def rekey(self, owner: str, digest: str, at: datetime) -> None:
        """Make this the only API key of `owner`: whoever holds another is let in no more. Only who runs the house needs it.

        Raises KeyError where there is no such owner.
        """
        from google.cloud.firestore import FieldFilter

        client = self._clients.firestore()
        held = client.collection("api_keys").where(filter=FieldFilter("owner", "==", owner))

        async def store(transaction: AsyncTransaction) -> None:
            if not (await places.locate_owner(client, owner).get(transaction=transaction)).exists:
                raise KeyError(owner)
            before = [each.reference async for each in held.stream(transaction=transaction)]
            for each in before:
                transaction.delete(each)
            transaction.create(places.locate_key(client, digest), {"owner": owner, "created_at": at})

        await transact(client.transaction(), store)

    async def list(self) -> Sequence[Owner]:
        """All of them, oldest first; no function needs this, only who runs the house."""
        snapshots = self._clients.firestore().collection("owners").stream()
        owners = [documents.read(Owner, snapshot.to_dict()) async for snapshot in snapshots]
        return sorted(owners, key=lambda owner: (owner.created_at, owner.id))
