"""The port of users' documents, as local functions read them; what they write is stored with the call (`ports.tickets`)."""

from __future__ import annotations

from typing import Protocol

from ferryman.domain.owners.user_changes import Document


class UserDocuments(Protocol):
    """The documents of all users, each user's apart."""

    async def get(self, user: str, path: str) -> tuple[Document | None, str]:
        """Return the document of `user` at this path with its version, or None and "". Raise `UnavailableError`."""
        ...
