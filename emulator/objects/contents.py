"""Contents: the bytes of objects, in chunks, written and read without ever holding a whole one in memory."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager

from google_crc32c import extend

from emulator.objects.values import Digests, Segment

CHUNK = 256 * 1024
"""Bytes in a chunk, but for a content's last one; uploads in pieces are of multiples of it."""

DELETED_AT_ONCE = 16
"""Chunks in one go, so that other requests come in between."""

SCHEMA = """
create table if not exists contents (number integer primary key autoincrement, dead integer not null default 0);
create index if not exists dead_contents on contents (number) where dead;
create table if not exists chunks (
    content integer not null, position integer not null, data blob not null, primary key (content, position));
"""


class ContentStore:
    """Rows in SQLite. A content that nobody refers to any longer is dead, and its chunks are deleted bit by bit."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._read_by: Counter[int] = Counter()
        self._dying = asyncio.Event()
        self._dying.set()

    def create(self) -> int:
        """Return the number of a new content without bytes."""
        return int(self._db.execute("insert into contents default values").lastrowid or 0)

    def append(self, number: int, position: int, data: bytes) -> None:
        """Store the chunk at this position."""
        self._db.execute("insert into chunks values (?, ?, ?)", (number, position, data))

    def measure(self, number: int) -> int:
        """Return how many bytes are stored of a content."""
        query = "select coalesce(sum(length(data)), 0) from chunks where content = ?"
        return int(self._db.execute(query, (number,)).fetchone()[0])

    def kill(self, numbers: Iterable[int]) -> None:
        """Have contents deleted, once the reads of them that are under way have ended."""
        self._db.executemany("update contents set dead = 1 where number = ?", [(number,) for number in numbers])
        self._dying.set()

    def kill_unless(self, alive: Iterable[int]) -> None:
        """Have all contents deleted but these: after a start, the others were being written by a process that died."""
        numbers = {row[0] for row in self._db.execute("select number from contents")}
        self.kill(numbers - set(alive))

    @contextmanager
    def keep(self, segments: Sequence[Segment]) -> Iterator[None]:
        """Delete none of these while inside: an object that is replaced is read to its end."""
        numbers = [segment.content for segment in segments]
        self._read_by.update(numbers)
        try:
            yield
        finally:
            self._read_by.subtract(numbers)
            self._dying.set()

    async def read(self, segments: Sequence[Segment], start: int, end: int) -> AsyncIterator[bytes]:
        """Yield the bytes from `start` up to `end` of the segments together, at most a chunk at a time."""
        for number, position, first, last in locate(segments, start, end):
            query = "select substr(data, ?, ?) from chunks where content = ? and position = ?"
            (data,) = self._db.execute(query, (first + 1, last - first, number, position)).fetchone()
            yield data
            await asyncio.sleep(0)

    async def collect(self) -> None:
        """Delete the chunks of dead contents that nobody reads."""
        query = "select number from contents where dead order by number"
        for (number,) in self._db.execute(query).fetchall():
            if self._read_by[number] > 0:
                continue
            some = "select rowid from chunks where content = ? limit ?"
            delete = f"delete from chunks where rowid in ({some})"  # noqa: S608 - of constants
            for _ in iter(lambda: self._db.execute(delete, (number, DELETED_AT_ONCE)).rowcount, 0):  # noqa: B023 - used at once
                await asyncio.sleep(0)
            self._db.execute("delete from contents where number = ?", (number,))

    async def collect_always(self) -> None:
        """Delete dead contents as they come, until cancelled."""
        while True:
            await self._dying.wait()
            self._dying.clear()
            await self.collect()


def locate(segments: Sequence[Segment], start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield content, position of the chunk, and from and to which of its bytes, for the bytes from `start` up to `end`."""
    before = 0
    for segment in segments:
        first, last = max(start - before, 0), min(end - before, segment.size)
        while first < last:
            position, offset = divmod(first, CHUNK)
            upto = min(CHUNK, offset + last - first)
            yield segment.content, position, offset, upto
            first += upto - offset
        before += segment.size


class ContentWriter:
    """Takes a content piece by piece. What is stored of it are whole chunks, until `finish`."""

    def __init__(self, contents: ContentStore) -> None:
        self._contents = contents
        self.number = contents.create()
        self.size = 0
        self._chunks = 0
        self._rest = bytearray()
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._crc32c = 0

    def write(self, data: bytes) -> None:
        """Take the next bytes."""
        self.size += len(data)
        self._rest += data
        while len(self._rest) >= CHUNK:
            self._store(bytes(self._rest[:CHUNK]))
            del self._rest[:CHUNK]

    def forget_rest(self) -> None:
        """Forget the bytes that are no whole chunk."""
        self.size -= len(self._rest)
        self._rest.clear()

    def finish(self) -> tuple[Segment, Digests]:
        """Store the rest; return where the whole is, and its digests."""
        if self._rest:
            self._store(bytes(self._rest))
            self._rest.clear()
        digests = Digests(crc32c=self._crc32c, md5=self._md5.hexdigest())
        return Segment(content=self.number, size=self.size), digests

    def drop(self) -> None:
        """Have all of it deleted."""
        self._contents.kill([self.number])

    def _store(self, chunk: bytes) -> None:
        self._contents.append(self.number, self._chunks, chunk)
        self._chunks += 1
        self._md5.update(chunk)
        self._crc32c = extend(self._crc32c, chunk)

    @classmethod
    async def reopen(cls, contents: ContentStore, number: int) -> ContentWriter:
        """Return a writer that goes on with a content of which whole chunks are stored, by reading them once."""
        writer = cls.__new__(cls)
        writer._contents, writer.number, writer._rest = contents, number, bytearray()
        writer._md5, writer._crc32c = hashlib.md5(usedforsecurity=False), 0
        writer.size = contents.measure(number)
        writer._chunks = writer.size // CHUNK
        async for data in contents.read([Segment(content=number, size=writer.size)], 0, writer.size):
            writer._md5.update(data)
            writer._crc32c = extend(writer._crc32c, data)
        return writer
