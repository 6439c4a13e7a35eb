"""The port of users' documents, as local functions read them; what they write is stored with the call (`ports.tickets`)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from ferryman.domain.owners.user_changes import Document
from ferryman.domain.owners.user_document import UserDocumentPage


class UserDocuments(Protocol):
    """The documents of all users, each user's apart. A user belongs to one workspace (`local_functions.build_user_id`)."""

    async def get(self, user: str, path: str) -> tuple[Document | None, str]:
        """Return the document of `user` at this path with its version, or None and "". Raise `UnavailableError`."""
        ...

    async def list(self, workspace: str, collection: str, *, after: str = "", most: int) -> UserDocumentPage:
        """Return at most `most` documents of the users of `workspace` in this collection. Raise `UnavailableError`."""
        ...

    async def delete(self, workspace: str, *, collections: Collection[str], most: int) -> int:
        """Delete at most `most` documents of the users of `workspace` in these collections, and return how many they were."""
        ...

    async def delete_user(self, user: str, *, collections: Collection[str]) -> None:
        """Delete all documents of `user` in these collections."""
        ...
