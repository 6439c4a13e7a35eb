"""Open streams in Firestore: a document an owner, so that they are counted over all instances."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.owners import stream as rules
from ferryman.gcp.store import FirestoreStore, Transaction, in_transaction


class FirestoreStreams(FirestoreStore):
    """`ports.Streams`."""

    @in_transaction
    async def hold(
        self, transaction: Transaction, owner: str, stream: str, *, now: datetime, until: datetime, most: int
    ) -> bool:
        reference = self._places.locate_streams(owner)
        stored = (await reference.get(transaction=transaction)).to_dict() or {}
        streams = rules.hold_stream(stored.get("held", {}), stream, now=now, until=until, most=most)
        if streams is None:
            return False
        transaction.set(reference, {"held": dict(streams)})
        return True

    async def release(self, owner: str, stream: str) -> None:
        from google.cloud.firestore import DELETE_FIELD

        await self._places.locate_streams(owner).set({"held": {stream: DELETE_FIELD}}, merge=True)
