"""Open streams in Firestore: a document an owner, so that they are counted over all instances."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ferryman.domain.owners import stream as rules
from ferryman.gcp import places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.transactions import transact

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction


@translate_errors
class FirestoreStreams:
    """`ports.Streams`."""

    def __init__(self, clients: FirestoreClient) -> None:
        self._clients = clients

    async def hold(self, owner: str, stream: str, *, now: datetime, until: datetime, most: int) -> bool:
        client = self._clients.firestore()
        reference = places.locate_streams(client, owner)

        async def store(transaction: AsyncTransaction) -> bool:
            stored = (await reference.get(transaction=transaction)).to_dict() or {}
            held = rules.hold_stream(stored.get("held", {}), stream, now=now, until=until, most=most)
            if held is None:
                return False
            transaction.set(reference, {"held": dict(held)})
            return True

        return await transact(client.transaction(), store)

    async def release(self, owner: str, stream: str) -> None:
        from google.cloud.firestore import DELETE_FIELD

        await places.locate_streams(self._clients.firestore(), owner).set({"held": {stream: DELETE_FIELD}}, merge=True)
