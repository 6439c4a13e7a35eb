"""Users' documents in Firestore: the content of each as one JSON text; its version is when it was last written."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from ferryman.domain.owners.user_changes import Document, UserChanges, UserChangesError, is_path
from ferryman.domain.owners.user_document import UserDocument, UserDocumentPage
from ferryman.gcp.places import USERS, Places
from ferryman.gcp.store import FirestoreStore, Reference, Snapshot, Transaction, filter_by, get_readable, list_readable

CONTENT = "content"
WORKSPACE = "workspace"
"""The field with the workspace, by which all documents of its users are found."""
USER_PATH_PARTS = 4
"""A user's document is at USERS/USER/COLLECTION/NAME."""


class FirestoreUserDocuments(FirestoreStore):
    """`ports.UserDocuments`."""

    async def get(self, user: str, path: str) -> tuple[Document | None, str]:
        snapshot = await get_readable(self._places.locate_user_document(user, path))
        try:
            content = None if snapshot is None or not snapshot.exists else _read_content(snapshot)
        except (KeyError, TypeError, ValueError):
            raise UserChangesError(f"the document {path} cannot be read") from None
        return content, get_version(snapshot)

    async def list(self, workspace: str, collection: str, *, after: str = "", most: int) -> UserDocumentPage:
        query = filter_by(self._client.collection_group(collection), (WORKSPACE, "==", workspace)).order_by("__name__")
        if after:
            query = query.start_after({"__name__": self._client.document(after)})
        snapshots = await list_readable(query.select([CONTENT]).limit(most + 1), names=["__name__"])
        here = snapshots[:most]
        # others may have a collection of this name elsewhere, and names that no call could have written
        parts = [(snapshot, snapshot.reference.path.split("/")) for snapshot in here]
        items = tuple(
            UserDocument(user=path[1], path="/".join(path[2:]), content=_read_or_none(snapshot))
            for snapshot, path in parts
            if len(path) == USER_PATH_PARTS and path[0] == USERS and is_path("/".join(path[2:]))
        )
        return UserDocumentPage(items=items, end=here[-1].reference.path if len(snapshots) > most else "")

    async def delete(self, workspace: str, *, collections: Collection[str], most: int) -> int:
        deleted = 0
        for collection in sorted(collections):
            query = filter_by(self._client.collection_group(collection), (WORKSPACE, "==", workspace))
            async for snapshot in query.select([]).limit(most - deleted).stream():
                await snapshot.reference.delete()
                deleted += 1
            if deleted == most:
                break
        return deleted

    async def delete_user(self, user: str, *, collections: Collection[str]) -> None:
        for collection in collections:
            async for document_at in self._places.locate_user(user).collection(collection).list_documents():
                await document_at.delete()


def _read_content(snapshot: Snapshot) -> Any:
    return json.loads((snapshot.to_dict() or {})[CONTENT])


def _read_or_none(snapshot: Snapshot) -> Document | None:
    try:
        content = _read_content(snapshot)
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def get_version(snapshot: Snapshot | None) -> str:
    """Return the version of a document: when it was last written, to the nanosecond; "" where there is none."""
    moment: Any = None if snapshot is None or not snapshot.exists else snapshot.update_time
    return "" if moment is None else str(moment.rfc3339())


def locate_all(places: Places, user: str, changes: UserChanges) -> Mapping[str, Reference]:
    """Return the documents that `changes` name, by path."""
    return {path: places.locate_user_document(user, path) for path in {**changes.reads, **changes.writes}}


def write_all(transaction: Transaction, located: Mapping[str, Reference], changes: UserChanges, *, workspace: str) -> None:
    """Write what `changes` say, in a transaction, for a user of `workspace`."""
    for path, document in changes.writes.items():
        if document is None:
            transaction.delete(located[path])
        else:
            transaction.set(located[path], {CONTENT: json.dumps(document), WORKSPACE: workspace})
