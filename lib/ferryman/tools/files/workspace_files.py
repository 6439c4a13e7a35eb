"""Files of workspaces in a bucket: behind the prefix of their workspace, and written once however often a write comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from ferryman.domain.files.direct_links import DirectLink
from ferryman.domain.files.disposition import write_disposition
from ferryman.domain.files.keys import build_prefix, clean_key, clean_prefix, strip_prefix
from ferryman.domain.files.object import (
    ABSENT,
    CONTENT_TYPE_MAX,
    PAGE_MAX,
    Object,
    ObjectChangedError,
    ObjectEntry,
    ObjectMissingError,
    ObjectPage,
    ObjectSlice,
    check_put,
)
from ferryman.domain.files.writes import (
    DELETED_BYTES,
    DELETED_TYPE,
    FILE_BYTES_MAX,
    READ_BYTES_MAX,
    FileWrite,
    StoredWrite,
    build_deleted,
    check_write,
    count_bytes,
    find_write,
    format_writes,
    is_deleted,
    read_integrity,
    read_writes,
)
from ferryman.domain.labels.label import Integrity
from ferryman.domain.problem import build_input_error
from ferryman.ports.errors import UnavailableError
from ferryman.ports.objects import Objects

ATTEMPTS_MAX = 16
"""How often a write looks again, where others have written the same file in between."""

HEADS_AT_ONCE = 8
"""Requests of one list: of an entry as large as what a deleted file leaves, only its type tells which it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewContent:
    """What a write stores, with its label. `replaced` counts what an edit has replaced."""

    content: bytes = field(repr=False)
    content_type: str
    replaced: int | None = None
    integrity: Integrity = Integrity.UNTRUSTED


MakeContent = Callable[[Object | None], Awaitable[NewContent]]
"""Makes the content from the file that is there, or None. It reads it with its version, so that a change in between is seen."""


class WorkspaceFiles:
    """`ports.Files`, on the bucket itself."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    async def list(self, workspace: str, prefix: str, *, cursor: str | None = None, most: int = PAGE_MAX) -> ObjectPage:
        beginning = build_prefix(workspace) + clean_prefix(prefix)
        if not 1 <= most <= PAGE_MAX:
            raise build_input_error("most", f"must be 1 to {PAGE_MAX:,}")
        try:
            page = await self._objects.list(beginning, cursor=cursor, most=most)
        except ValueError:
            raise build_input_error("cursor", "is none of this list") from None
        turns = asyncio.Semaphore(HEADS_AT_ONCE)

        async def is_file(entry: ObjectEntry) -> bool:
            if entry.size_bytes != DELETED_BYTES:
                return True
            async with turns:
                return not is_deleted(await self._objects.head(entry.key))

        files = await asyncio.gather(*map(is_file, page.entries))
        # a service lists what begins with the prefix, and nothing else is believed to be the workspace's
        named = [replace(entry, key=strip_prefix(workspace, entry.key)) for entry in page.entries]
        entries = tuple(entry for entry, is_shown in zip(named, files, strict=True) if is_shown)
        deleted = tuple(entry.key for entry, is_shown in zip(named, files, strict=True) if not is_shown)
        return replace(page, entries=entries, deleted=deleted)

    async def head(self, workspace: str, key: str) -> Object | None:
        key = clean_key(key)
        stored = await self._objects.head(build_prefix(workspace) + key)
        return None if stored is None or is_deleted(stored) else replace(stored, key=key, metadata={})

    async def read(
        self, workspace: str, key: str, *, start: int = 0, size: int = READ_BYTES_MAX, version: str | None = None
    ) -> ObjectSlice:
        key = clean_key(key)
        if start < 0 or not 1 <= size <= READ_BYTES_MAX:
            raise build_input_error("start", f"must be 0 or more, and size 1 to {READ_BYTES_MAX:,}")
        part = await self._objects.get(build_prefix(workspace) + key, start=start, size=size, version=version)
        if part.content_type == DELETED_TYPE:
            raise ObjectMissingError(key)
        return part

    async def read_integrity(self, workspace: str, key: str, *, version: str) -> Integrity:
        """Return the label that a version of a file was written with; untrusted where another one is there by now."""
        stored = await self._objects.head(build_prefix(workspace) + clean_key(key))
        return read_integrity(stored if stored is not None and stored.version == version else None)

    async def write(
        self, workspace: str, key: str, content: bytes, *, content_type: str, write: str, expected: str | None = None
    ) -> FileWrite:
        new = NewContent(content=content, content_type=content_type)

        async def make(stored: Object | None) -> NewContent:
            if expected is not None and expected != (ABSENT if stored is None else stored.version):
                raise ObjectChangedError(key)
            return new

        check_content(new)
        return await self.change(workspace, key, make, write=write, is_bound=expected is not None)

    async def change(
        self, workspace: str, key: str, make: MakeContent, *, write: str, is_bound: bool = False, is_done: bool = False
    ) -> FileWrite:
        """Store what `make` makes of a file, once for each name of a `write`.

        One that is `is_bound` to a version looks once more, and no longer: another version is no longer what was expected. One
        that `is_done`, as its quota's reservation tells, stores nothing: where its object is gone, no `writes` are known.
        Raise what `make` raises, and `UnavailableError` where others write the file all the time.
        """
        check_write(write)
        key = clean_key(key)
        object_key = build_prefix(workspace) + key
        for _ in range(ATTEMPTS_MAX):
            stored = await self._objects.head(object_key)
            done = find_write(stored, key, write)
            if done is not None:
                return done
            if is_done:
                return FileWrite(key=key, version="", writes=())
            try:
                new = await make(None if is_deleted(stored) else stored)
                check_content(new)
                return await self._put(object_key, key, stored, new, write)
            except ObjectChangedError:
                # it may be this write's own object: another delivery's, or one whose answer was lost
                if is_bound and find_write(await self._objects.head(object_key), key, write) is None:
                    raise
        raise UnavailableError("others write the file all the time")

    async def find(self, workspace: str, key: str, *, write: str) -> FileWrite | None:
        key = clean_key(key)
        return find_write(await self._objects.head(build_prefix(workspace) + key), key, write)

    async def delete(self, workspace: str, key: str, *, write: str, version: str | None = None) -> FileWrite | None:
        check_write(write)
        key = clean_key(key)
        object_key = build_prefix(workspace) + key
        for _ in range(ATTEMPTS_MAX):
            stored = await self._objects.head(object_key)
            if stored is None:
                return None
            done = find_write(stored, key, write)
            if done is not None:
                return done
            if is_deleted(stored):
                nothing = StoredWrite(name=write, old_bytes=0, new_bytes=0)
                return FileWrite(key=key, version=stored.version, writes=(nothing, *read_writes(stored)))
            if version not in (None, stored.version):
                raise ObjectChangedError(key)
            try:
                empty = NewContent(content=build_deleted(write), content_type=DELETED_TYPE)
                return await self._put(object_key, key, stored, empty, write)
            except ObjectChangedError:
                continue
        raise UnavailableError("others write the file all the time")

    async def purge(self, workspace: str, key: str, *, version: str) -> None:
        key = clean_key(key)
        object_key = build_prefix(workspace) + key
        stored = await self._objects.head(object_key)
        if stored is None or not is_deleted(stored) or stored.version != version:
            return
        try:
            await self._objects.delete(object_key, version=version)
        except ObjectChangedError:
            return  # somebody has written a file there

    async def link(self, workspace: str, key: str, *, lifetime: timedelta) -> DirectLink:
        key = clean_key(key)
        stored = await self._objects.head(build_prefix(workspace) + key)
        if stored is None or is_deleted(stored):
            raise ObjectMissingError(key)
        return await self._objects.link(stored, disposition=write_disposition(key), lifetime=lifetime)

    async def _put(self, object_key: str, key: str, stored: Object | None, new: NewContent, write: str) -> FileWrite:
        new_bytes = 0 if new.content_type == DELETED_TYPE else len(new.content)
        current = StoredWrite(name=write, old_bytes=count_bytes(stored), new_bytes=new_bytes)
        writes = (current, *read_writes(stored))
        version = await self._objects.put(
            object_key,
            new.content,
            content_type=new.content_type,
            metadata=format_writes(writes, replaced=new.replaced, integrity=new.integrity),
            expected=ABSENT if stored is None else stored.version,
        )
        return FileWrite(key=key, version=version, writes=writes, replaced=new.replaced)


def check_content(new: NewContent) -> None:
    """Raise `InvalidInputError` for what no file is: too long, or of a type that cannot be sent as a header."""
    if len(new.content) > FILE_BYTES_MAX:
        raise build_input_error("content", f"must be at most {FILE_BYTES_MAX:,} bytes")
    try:
        check_put("key", b"", new.content_type, {})
    except ValueError:
        raise build_input_error("content_type", f"must be 1 to {CONTENT_TYPE_MAX} visible ASCII characters") from None
    if new.content_type.partition(";")[0].strip().lower() == DELETED_TYPE:
        raise build_input_error("content_type", "must be another: this one marks what is left of deleted files")
