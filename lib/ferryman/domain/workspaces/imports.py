"""Imports: an archive that becomes a workspace, file after file in their order; until the last, nothing in it is started.

Every id is made of the new workspace's and of the one in the archive: a file that is sent again changes nothing, and nobody
else's id can be taken.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from ferryman.domain.problem import build_input_error
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.names import derive_default_agent

IMPORTED_FILES_MAX = 50_000
"""Files of an archive that is imported: some 25 GB of lines."""

EXECUTION_LINES_MAX = 21_000
"""Lines of one execution. One that ran on Pro has 51 turns of at most 100 calls, with 3 lines for a turn (step, entry, receipt)
and 4 for a call (call, entry, two receipts), and a few more: 20,563."""

EXECUTION_BYTES_MAX = 40_000_000
"""Of these lines together in UTF-8, because record and events of an execution are read as a whole. One that ran on Pro has 51
turns of 64,000 tokens, some four bytes each, told by the step and again by its calls (26 MB), and 50 calls and 20 searches with
a result of 50,000 characters, of three bytes (10.5 MB)."""

PAUSED = "imported: turn the task on, and its schedule runs it again"

_DIGITS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """An execution whose lines go on in the next file: its id in the archive, and the kind of its last line so far.

    It has so many `lines` so far, of `size` bytes together in UTF-8.
    """

    execution: str
    kind: str
    lines: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFile:
    """The last file of a workspace that began: its key, its type, its bytes as its first line tells them, and how many came.

    It `is_open` until its last line, which may come in a later file of the archive.
    """

    key: str
    content_type: str
    size_bytes: int
    done_bytes: int = 0
    is_open: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class OldestExecution:
    """The last execution that began, by its id in the archive, where each is older than the one before it."""

    created_at: datetime
    execution: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveImport:
    """How far an import is, as a part of its workspace.

    `source` is the workspace that was exported, `digest` the archive's (`Manifest.digest`), `keys` are the public keys by
    version, in hex, of its receipts. Of `files` files, `following` is the number of the next one from 0, and `head` the digest
    of those before it; `last` is the SHA-256 of the last of them and `name` its name, "" before the first. `counts` are the
    things by kind so far, `expected` those that the manifest tells. `default_agent` is the id of the default agent in the
    archive, `run` the execution that is not at its end, and `oldest` the last one that began; `file` is the last file of the
    workspace that began, `file_bytes` are those of all of them that the manifest tells, `stored_bytes` those so far.
    """

    source: str
    digest: str
    keys: Mapping[str, str] = field(default_factory=dict)
    files: int
    expected: Mapping[str, int] = field(default_factory=dict)
    following: int = 0
    head: str = ""
    name: str = ""
    last: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    default_agent: str = ""
    run: OpenRun | None = None
    oldest: OldestExecution | None = None
    file: OpenFile | None = None
    file_bytes: int = 0
    stored_bytes: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether its last file is stored."""
        return self.following == self.files

    def awaits(self, number: int) -> bool:
        """Tell whether the file `number` is the next one. Raise `StaleError` unless it is, or is the one before it."""
        if number not in (self.following, self.following - 1) or number == self.files:
            if self.is_whole:
                raise StaleError(f"the import is finished: all {self.files} files are stored")
            raise StaleError(
                f"the next file is number {self.following}, counted from 0, of {self.files}, and not number {number}"
            )
        return number == self.following

    def check_repeated(self, name: str, sha256: str) -> None:
        """Raise `StaleError` where this is another file than the one that was stored last."""
        if (name, sha256) != (self.name, self.last):
            raise StaleError(f"another file was stored as file {self.following - 1}")

    def advance(
        self,
        name: str,
        sha256: str,
        count: int,
        *,
        run: OpenRun | None = None,
        oldest: OldestExecution | None = None,
        default_agent: str | None = None,
        file: OpenFile | None = None,
        stored_bytes: int = 0,
    ) -> ArchiveImport:
        """Return the import after the file `name`, which had `count` things of its kind, and ended files of
        `stored_bytes`. Raise `InvalidInputError` where it was the last one, and the archive is not as was said at its begin."""
        kind = name.partition("-")[0]
        after = replace(
            self,
            following=self.following + 1,
            head=chain_file(self.head, name, sha256),
            name=name,
            last=sha256,
            counts={**self.counts, kind: self.counts.get(kind, 0) + count},
            default_agent=self.default_agent if default_agent is None else default_agent,
            run=run,
            oldest=oldest or self.oldest,
            file=file or self.file,
            stored_bytes=self.stored_bytes + stored_bytes,
        )
        if after.is_whole:
            after.check_end()
        return after

    def check_end(self) -> None:
        """Raise `InvalidInputError` where the files are not all of the archive that the import began with."""
        if self.run is not None:
            raise build_input_error("content", f"{self.name}: execution {self.run.execution} has no end")
        if self.file is not None and self.file.is_open:
            raise build_input_error("content", f"{self.name}: file {self.file.key} has no end")
        if self.stored_bytes != self.file_bytes:
            message = f"file_bytes: the manifest says {self.file_bytes}, and the files have {self.stored_bytes}"
            raise build_input_error("content", message)
        for kind in sorted({*self.expected, *self.counts}):
            expected, count = self.expected.get(kind, 0), self.counts.get(kind, 0)
            if expected != count:
                raise build_input_error("content", f"counts.{kind}: the manifest says {expected}, and the files have {count}")
        if self.head != self.digest:
            raise build_input_error("content", "the files are not those of the archive that this import began with")


def chain_file(before: str, name: str, sha256: str) -> str:
    """Return the digest of the files up to one, where `before` is that of those before it: "" before the first."""
    return hashlib.sha256(f"{before} {name} {sha256}\n".encode()).hexdigest()


def derive_id(workspace: str, prefix: str, name: str) -> str:
    """Return the id in the new `workspace` of what has the id `name` in the archive."""
    return f"{prefix}_{hashlib.sha256(f'{workspace}{chr(10)}{prefix}{chr(10)}{name}'.encode()).hexdigest()[:_DIGITS]}"


def derive_agent(workspace: str, run: ArchiveImport, name: str) -> str:
    """Return the id in the new `workspace` of an agent of the archive: its default agent becomes the default one."""
    return derive_default_agent(workspace) if name == run.default_agent else derive_id(workspace, "agent", name)
