"""What an export reads page by page, so that one page is in memory at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeVar

from ferryman.domain.jobs.parts import PARTS
from ferryman.domain.owners.user_document import UserDocument
from ferryman.domain.page import Page, Position
from ferryman.ports.user_documents import UserDocuments

Item = TypeVar("Item")
USER_COLLECTIONS = tuple(part.collection for part in PARTS if part.is_group)


async def iterate_pages(read: Callable[[Position | None], Awaitable[Page[Item]]]) -> AsyncIterator[Sequence[Item]]:
    """Yield the items of each page that `read` returns, which takes where the page begins."""
    after: Position | None = None
    while True:
        page = await read(after)
        yield page.items
        after = page.end
        if after is None:
            return


async def iterate_documents(store: UserDocuments, workspace: str, *, most: int) -> AsyncIterator[Sequence[UserDocument]]:
    """Yield what is kept for the users of `workspace`, at most `most` documents at a time."""
    for collection in USER_COLLECTIONS:
        after = ""
        while True:
            page = await store.list(workspace, collection, after=after, most=most)
            yield page.items
            after = page.end
            if not after:
                break
