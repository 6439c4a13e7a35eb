"""Storing the files of an archive: within the workspace's quota, and once however often a file of the archive is sent.

Each part is a write with a name of its own, made of its place in the archive: the object's metadata tell that it is stored. All
of a file's writes are reserved before the first is made, and settled each after it. They are released once it is noted that the
file is stored: until then, one that is sent again finds them. A delivery that comes later than that finds that another file is
the next, and does nothing.

A file of more than one part grows in its own place: each part is put behind what is there, in the version that was read.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterable

from ferryman.catalog.tools import NO_BUCKET, keeps_files
from ferryman.composition.api import ApiDependencies
from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.files.object import ABSENT, Object, ObjectChangedError, ObjectMissingError
from ferryman.domain.files.quota import SETTLED_LIFETIME, QuotaExceededError
from ferryman.domain.files.writes import READ_BYTES_MAX, FileWrite
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.problem import build_input_error
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.workspace import WorkspaceGoneError, WorkspaceState
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.access import get_plan
from ferryman.serving.api.rights import Caller
from ferryman.serving.archived_files import check_digest
from ferryman.serving.importing.files import FilePart, ReadFiles, SpanningFile
from ferryman.serving.importing.target import ArchiveTarget

_PREFIX = "import."
Change = FilePart | SpanningFile


class FilesImport:
    """The files of a workspace in the file `number` of an archive, which is the next one of its import."""

    def __init__(self, deps: ApiDependencies, caller: Caller, target: ArchiveTarget, number: int) -> None:
        self._deps = deps
        self._caller = caller
        self._target = target
        self._number = number
        self._workspace = target.workspace

    async def store(self, read: ReadFiles) -> None:
        """Store what was read.

        Raise `LimitReachedError` where there is no room, before anything of it is stored; `InvalidInputError` for a file whose
        bytes are not those of its SHA-256; `StaleError` where somebody else stores it, or has; `WorkspaceGoneError`, and
        `UnavailableError`.
        """
        changes: list[Change] = [*read.parts, *(item for item in read.spanning if not item.sha256)]
        if changes and not keeps_files(self._deps.tools):
            raise build_input_error("content", f"{changes[0].place}: {NO_BUCKET}")
        counted = {change.line for change in changes if await self._is_counted(change)}
        for change in changes:
            if change.line not in counted:
                await self._reserve(change)
        await self._check_next()
        for part in read.parts:
            if part.line not in counted:
                await self._store(part)
        for item in read.spanning:
            await (self._compare(item) if item.sha256 else self._give_up(item))

    async def _is_counted(self, change: Change) -> bool:
        """Tell whether a write was stored and settled so long ago that the quota has forgotten it: it counts once."""
        if self._deps.clock.now() - self._target.began_at < SETTLED_LIFETIME:
            return False
        quota = await self._deps.file_quotas.get(self._workspace)
        name = self._name(change)
        if name in quota.reservations:
            return False
        return await self._deps.files.find(self._workspace, change.key, write=name) is not None

    async def _reserve(self, change: Change) -> None:
        plan, now = get_plan(self._deps, self._caller.owner), self._deps.clock.now()
        size = len(change.content) if isinstance(change, FilePart) else 0
        try:
            await self._deps.file_quotas.reserve(
                self._workspace,
                self._name(change),
                owner=self._target.owner,
                size_bytes=size,
                limit_bytes=plan.file_bytes,
                now=now,
                key=change.key,
            )
        except QuotaExceededError as error:
            raise LimitReachedError(f"{change.place}: file {change.key}: {error}") from None

    async def _check_next(self) -> None:
        """Raise `StaleError` where this file of the archive is not the next one any more.

        Its writes may be released by then: what a delivery that comes too late has reserved, it gives back.
        """
        stored = await self._deps.workspaces.get(self._workspace, owner=self._target.owner)
        if stored is None or stored.state is WorkspaceState.DELETING:
            raise WorkspaceGoneError
        if stored.imported is None or stored.imported.following != self._number:
            await release_writes(self._deps, self._workspace, self._number)
            raise StaleError(f"file {self._number} of the archive is stored already")

    async def _store(self, part: FilePart) -> None:
        files, name = self._deps.files, self._name(part)
        try:
            done = await files.find(self._workspace, part.key, write=name) if part.start else None
            if done is None:
                content, expected = await self._extend(part) if part.start else (part.content, ABSENT)
                done = await files.write(
                    self._workspace, part.key, content, content_type=part.content_type, write=name, expected=expected
                )
        except (ObjectChangedError, ObjectMissingError):
            raise StaleError(f"{part.place}: file {part.key}: somebody else has stored or deleted a file of this key") from None
        await self._settle(done)

    async def _extend(self, part: FilePart) -> tuple[bytes, str]:
        """Return what a file has with this part, and the version that has what is before it."""
        file = await self._find(part.key)
        if file.size_bytes != part.start:
            raise ObjectChangedError(part.key)
        before = [read async for read in self._iterate(file)]
        return b"".join([*before, part.content]), file.version

    async def _find(self, key: str) -> Object:
        file = await self._deps.files.head(self._workspace, key)
        if file is None:
            raise ObjectMissingError(key)
        return file

    async def _iterate(self, file: Object) -> AsyncIterator[bytes]:
        position = 0
        while position < file.size_bytes:
            size = min(READ_BYTES_MAX, file.size_bytes - position)
            part = await self._deps.files.read(self._workspace, file.key, start=position, size=size, version=file.version)
            if not part.content:
                raise UnavailableError("a file was read, and nothing came")
            yield part.content
            position += len(part.content)

    async def _compare(self, item: SpanningFile) -> None:
        """Raise `InvalidInputError` where a file's bytes are not those of its SHA-256."""
        digest = hashlib.sha256()
        try:
            async for content in self._iterate(await self._find(item.key)):
                await asyncio.to_thread(digest.update, content)
            check_digest(item.place, item.key, item.sha256, digest.hexdigest())
        except (ObjectChangedError, ObjectMissingError):
            raise StaleError(f"{item.place}: file {item.key}: somebody else has stored or deleted a file of this key") from None
        except ArchiveError as error:
            raise build_input_error("content", str(error)) from None

    async def _give_up(self, item: SpanningFile) -> None:
        """Delete what was stored of a file that was changed while it was exported."""
        done = await self._deps.files.delete(self._workspace, item.key, write=self._name(item))
        if done is not None:
            await self._settle(done)
            await self._deps.files.purge(self._workspace, item.key, version=done.version)

    async def _settle(self, done: FileWrite) -> None:
        try:
            await self._deps.file_quotas.settle(self._workspace, done.writes)
        except ValueError:
            await self._check_next()  # another delivery may have released it meanwhile
            raise

    def _name(self, change: Change) -> str:
        return f"{_PREFIX}{self._number}.{change.line}"


async def release_writes(deps: ApiDependencies, workspace: str, number: int) -> None:
    """Release the writes of the files up to `number` of an archive, once it is noted that these are stored."""
    quota = await deps.file_quotas.get(workspace)
    for name in list_names(quota.reservations, number):
        await deps.file_quotas.release(workspace, name)


def list_names(names: Iterable[str], number: int) -> list[str]:
    """Return those of `names` that are of writes of the files up to `number`."""
    parts = [(name, name.split(".")) for name in names if name.startswith(_PREFIX)]
    return [name for name, (_, place, _) in parts if int(place) <= number]
