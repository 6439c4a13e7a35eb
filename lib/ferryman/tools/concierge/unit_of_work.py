"""A unit of work: what a local function reads and writes of its user's documents, all of it stored at the end or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ferryman.domain.owners.user_changes import DOCUMENTS_MAX, Document, UserChanges, UserChangesError, check_path
from ferryman.ports.user_documents import UserDocuments


class UnitOfWork:
    """The `db` of one call. Paths are COLLECTION/NAME, in the part of the store that is the user's own.

    It stores nothing itself: `close` returns the changes, which are stored together with the call's result where all that was
    read is still as it was. A call that fails changes nothing.
    """

    def __init__(self, documents: UserDocuments, user: str) -> None:
        self._documents = documents
        self._user = user
        self._read: dict[str, Document | None] = {}
        self._versions: dict[str, str] = {}
        self._writes: dict[str, Document | None] = {}
        self._is_closed = False

    async def get(self, path: str) -> dict[str, Any] | None:
        """Return a copy of the document at this path as the call has left it, or None where there is none.

        Raise `UserChangesError`, or `UnavailableError` where the store cannot be reached.
        """
        self._check(path)
        if path in self._writes:
            return _copy(self._writes[path])
        if path not in self._read:
            document, version = await self._documents.get(self._user, path)
            self._check(path)  # the call may have ended meanwhile
            self._read[path], self._versions[path] = document, version
        return _copy(self._read[path])

    def add(self, path: str, document: Mapping[str, Any]) -> None:
        """Store a document at this path, in the place of the one that may be there. Raise `UserChangesError`."""
        self._check(path)
        UserChanges({}, {**self._writes, path: document})  # within all limits
        self._writes[path] = _copy(document)

    def delete(self, path: str) -> None:
        """Delete the document at this path, if there is one. Raise `UserChangesError`."""
        self._check(path)
        self._writes[path] = None

    def close(self, *, failed: bool) -> UserChanges:
        """Return the changes, none where the call has `failed`; nothing can be read or written afterwards."""
        self._is_closed = True
        return UserChanges() if failed else UserChanges(self._versions, self._writes)

    def _check(self, path: str) -> None:
        check_path(path)
        if self._is_closed:
            raise UserChangesError("the call has ended: nothing can be read or written any more")
        if len({*self._versions, *self._writes, path}) > DOCUMENTS_MAX:
            raise UserChangesError(f"a call reads and writes at most {DOCUMENTS_MAX} documents")


def _copy(document: Document | None) -> dict[str, Any] | None:
    return None if document is None else dict(json.loads(json.dumps(document)))
