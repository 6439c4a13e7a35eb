"""Open streams in Firestore: a document an owner, so that they are counted over all instances."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ferryman.domain.owners import stream as rules
from ferryman.gcp import places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.store import FirestoreStore

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction


@translate_errors
class FirestoreStreams(FirestoreStore):
    """`ports.Streams`."""

    async def hold(self, owner: str, stream: str, *, now: datetime, until: datetime, most: int) -> bool:
        reference = places.locate_streams(self._client, owner)

        async def store(transaction: AsyncTransaction) -> bool:
            stored = (await reference.get(transaction=transaction)).to_dict() or {}
            streams = rules.hold_stream(stored.get("held", {}), stream, now=now, until=until, most=most)
            if streams is None:
                return False
            transaction.set(reference, {"held": dict(streams)})
            return True

        return await self._transact(store)

    async def release(self, owner: str, stream: str) -> None:
        from google.cloud.firestore import DELETE_FIELD

        await places.locate_streams(self._client, owner).set({"held": {stream: DELETE_FIELD}}, merge=True)
