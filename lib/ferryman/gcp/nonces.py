"""Nonces in Firestore: a document each, created once; the database deletes it some time after its token is no longer good."""

from __future__ import annotations

from datetime import datetime

from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import FirestoreStore


class FirestoreNonces(FirestoreStore):
    """`ports.Nonces`."""

    async def use(self, nonce: str, *, until: datetime) -> bool:
        from google.api_core.exceptions import AlreadyExists, Conflict

        try:
            # a create whose answer was lost counts as used: the request is signed again, with another nonce
            await self._places.locate_nonce(nonce).create({EXPIRE_AT: until})
        except (AlreadyExists, Conflict):
            return False
        return True
