"""Users' documents in memory; the version of each counts its writes."""

from __future__ import annotations

from collections.abc import Collection

from ferryman.domain.owners.user_changes import Document
from ferryman.domain.owners.user_document import UserDocument, UserDocumentPage
from ferryman.inmemory.memory import MemoryStore


class MemoryUserDocuments(MemoryStore):
    """`ports.UserDocuments`."""

    async def get(self, user: str, path: str) -> tuple[Document | None, str]:
        return self._memory.user_documents.get((user, path), (None, ""))

    async def list(self, workspace: str, collection: str, *, after: str = "", most: int) -> UserDocumentPage:
        stored, workspaces = self._memory.user_documents, self._memory.user_workspaces
        rest = [
            UserDocument(user=user, path=path, content=content)
            for (user, path), (content, _) in sorted(stored.items(), key=lambda item: item[0])
            if workspaces.get(user) == workspace and path.partition("/")[0] == collection and content is not None
            if f"{user}/{path}" > after
        ]
        here = tuple(rest[:most])
        return UserDocumentPage(items=here, end=f"{here[-1].user}/{here[-1].path}" if len(rest) > most else "")

    async def delete(self, workspace: str, *, collections: Collection[str], most: int) -> int:
        stored, workspaces = self._memory.user_documents, self._memory.user_workspaces
        places = [
            (user, path)
            for (user, path), (document, _) in stored.items()
            if workspaces.get(user) == workspace and path.partition("/")[0] in collections and document is not None
        ][:most]
        for place in places:
            del stored[place]
        return len(places)

    async def delete_user(self, user: str, *, collections: Collection[str]) -> None:
        stored = self._memory.user_documents
        for place in [(name, path) for name, path in stored if name == user and path.partition("/")[0] in collections]:
            del stored[place]
