"""Exporting the files of a workspace: each in one version, read part by part, or named as left out."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from ferryman.domain.archives import file_lines
from ferryman.domain.archives.file_lines import PART_BYTES, LeftOut, find_reason
from ferryman.domain.files.object import Object, ObjectChangedError, ObjectEntry, ObjectMissingError
from ferryman.ports.files import Files

PAGE = 200
"""Files that are listed at once."""

ATTEMPTS = 3
"""How often a file is begun, where it is replaced before its first part was read."""

Lines = tuple[Callable[..., Iterator[dict[str, Any]]], tuple[Any, ...]]
"""What makes lines, and of what: it takes processor time."""


class FilesExport:
    """The files of one export: how many are whole in it, their bytes, and how many were left out."""

    def __init__(self, files: Files, workspace: str) -> None:
        self._files = files
        self._workspace = workspace
        self.count = 0
        self.size_bytes = 0
        self.left_out = 0

    async def iterate(self) -> AsyncIterator[Lines]:
        """Yield what the lines of the files are made of; one part of one file is in memory."""
        cursor: str | None = None
        while True:
            page = await self._files.list(self._workspace, "", cursor=cursor, most=PAGE)
            for entry in page.entries:
                async for lines in self._iterate_file(entry):
                    yield lines
            cursor = page.cursor
            if cursor is None:
                return

    async def _iterate_file(self, entry: ObjectEntry) -> AsyncIterator[Lines]:
        reason = find_reason(entry)
        if reason is not None:
            yield self._leave_out(entry.key, reason)
            return
        begun = await self._begin(entry.key)
        if begun is None:  # it was deleted meanwhile
            return
        if isinstance(begun, LeftOut):
            yield self._leave_out(entry.key, begun)
            return
        file, content = begun
        yield file_lines.write_beginning, (file,)
        digest, position = hashlib.sha256(), 0
        while content:
            await asyncio.to_thread(digest.update, content)
            yield file_lines.write_part, (content,)
            position += len(content)
            try:
                content = await self._read(file, position)
            except (ObjectChangedError, ObjectMissingError):
                yield self._leave_out(file.key, LeftOut.CHANGED)
                return
        yield file_lines.write_end, (file.key, digest.hexdigest())
        self.count += 1
        self.size_bytes += file.size_bytes

    async def _begin(self, key: str) -> tuple[Object, bytes] | LeftOut | None:
        """Return a file and its first part, of one version; why there is none, and None where the file is gone."""
        for _ in range(ATTEMPTS):
            file = await self._files.head(self._workspace, key)
            if file is None:
                return None
            reason = find_reason(file)
            if reason is not None:
                return reason
            try:
                return file, await self._read(file, 0)
            except ObjectMissingError:
                return None
            except ObjectChangedError:
                continue
        return LeftOut.CHANGED

    async def _read(self, file: Object, start: int) -> bytes:
        """Return the part from byte `start` on, empty at the end."""
        size = min(PART_BYTES, file.size_bytes - start)
        if size <= 0:
            return b""
        part = await self._files.read(self._workspace, file.key, start=start, size=size, version=file.version)
        if len(part.content) != size:
            raise ObjectChangedError(file.key)
        return part.content

    def _leave_out(self, key: str, reason: LeftOut) -> Lines:
        self.left_out += 1
        return file_lines.write_left_out, (key, reason)
