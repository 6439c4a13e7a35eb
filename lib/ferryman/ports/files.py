"""The port of a workspace's files, behind which is a bucket that only the function `files` may use."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from ferryman.domain.files.direct_links import DirectLink
from ferryman.domain.files.object import PAGE_MAX, Object, ObjectPage, ObjectSlice
from ferryman.domain.files.writes import READ_BYTES_MAX, FileWrite


class Files(Protocol):
    """The files of workspaces. Keys are cleaned (`domain.files.keys`); in what is returned they are without the prefix.

    Every method raises `InvalidInputError` for a key, a prefix, a cursor or a content type that cannot be, and
    `UnavailableError` where the bucket does not answer: repeat the call then, a write under the same name.

    `read` returns up to `size` bytes, at most `READ_BYTES_MAX`, from byte `start` on: read a long file part by part, and give
    the `version` of the first one, so that all are of one content. It raises `ObjectMissingError` and `ObjectChangedError`.
    `head` returns None where there is no file. `list` returns up to `most` files whose keys begin with `prefix`,
    and beside them the keys of deleted ones of which something is left, since the process died that was to purge it.

    `write` stores at most `FILE_BYTES_MAX` bytes, once however often it is called with one name (`write`), and raises
    `ObjectChangedError` unless the file is of the version `expected`, where that is given (`ABSENT`: there is none). Before it,
    reserve the bytes under that name (`ports.FileQuotas`); after it, settle its `writes`, then release.
    `find` returns what the write of a name did to a file, None where it has stored nothing that is known of.
    `delete` empties a file, in the same way and with a reservation of 0 bytes; it returns None where there is nothing. After
    its `writes` are settled, `purge` with its `version` takes away what is left, which no read or head shows. A deletion of
    what is left of another one returns its `writes` and `version`, too.
    `link` returns a URL that downloads a file as it is now, for anybody who has the URL; it raises `ObjectMissingError`.
    """

    async def list(self, workspace: str, prefix: str, *, cursor: str | None = None, most: int = PAGE_MAX) -> ObjectPage: ...
    async def head(self, workspace: str, key: str) -> Object | None: ...
    async def read(
        self, workspace: str, key: str, *, start: int = 0, size: int = READ_BYTES_MAX, version: str | None = None
    ) -> ObjectSlice: ...
    async def write(
        self, workspace: str, key: str, content: bytes, *, content_type: str, write: str, expected: str | None = None
    ) -> FileWrite: ...
    async def find(self, workspace: str, key: str, *, write: str) -> FileWrite | None: ...
    async def delete(self, workspace: str, key: str, *, write: str, version: str | None = None) -> FileWrite | None: ...
    async def purge(self, workspace: str, key: str, *, version: str) -> None: ...
    async def link(self, workspace: str, key: str, *, lifetime: timedelta) -> DirectLink: ...
