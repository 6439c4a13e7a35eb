"""Users' documents in Firestore: the content of each as one JSON text; its version is when it was last written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ferryman.domain.owners.user_changes import Document, UserChanges, UserChangesError
from ferryman.gcp.places import Places
from ferryman.gcp.store import FirestoreStore, Reference, Snapshot, Transaction, get_readable

CONTENT = "content"


class FirestoreUserDocuments(FirestoreStore):
    """`ports.UserDocuments`."""

    async def get(self, user: str, path: str) -> tuple[Document | None, str]:
        snapshot = await get_readable(self._places.locate_user_document(user, path))
        try:
            content = None if snapshot is None or not snapshot.exists else json.loads((snapshot.to_dict() or {})[CONTENT])
        except (KeyError, TypeError, ValueError):
            raise UserChangesError(f"the document {path} cannot be read") from None
        return content, get_version(snapshot)


def get_version(snapshot: Snapshot | None) -> str:
    """Return the version of a document: when it was last written, to the nanosecond; "" where there is none."""
    moment: Any = None if snapshot is None or not snapshot.exists else snapshot.update_time
    return "" if moment is None else str(moment.rfc3339())


def locate_all(places: Places, user: str, changes: UserChanges) -> Mapping[str, Reference]:
    """Return the documents that `changes` name, by path."""
    return {path: places.locate_user_document(user, path) for path in {**changes.reads, **changes.writes}}


def write_all(transaction: Transaction, located: Mapping[str, Reference], changes: UserChanges) -> None:
    """Write what `changes` say, in a transaction."""
    for path, document in changes.writes.items():
        if document is None:
            transaction.delete(located[path])
        else:
            transaction.set(located[path], {CONTENT: json.dumps(document)})
