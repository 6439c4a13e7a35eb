"""Where buckets, objects and unfinished uploads lie."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from emulator.clock import EmulatorClock
from emulator.objects import contents
from emulator.objects.contents import ContentStore
from emulator.objects.errors import missing_bucket
from emulator.objects.values import Digests, ObjectAbout, Segment, StorageBucket, StoredObject
from emulator.storage import micros, transaction

SCHEMA = (
    contents.SCHEMA
    + """
create table if not exists buckets (
    name text primary key, project text not null, location text not null, created integer not null);
create table if not exists objects (
    bucket text not null, name text not null, json text not null, primary key (bucket, name));
create table if not exists generations (last integer not null);
create table if not exists uploads (
    id text primary key, bucket text not null, name text not null, kind text not null, started integer not null,
    content integer, json text not null);
create table if not exists parts (
    upload text not null, number integer not null, content integer not null, size integer not null, md5 text not null,
    crc32c integer not null, stored integer not null, primary key (upload, number));
create table if not exists account_keys (email text primary key, pem blob not null);
"""
)
BATCH = 256
"""Objects that a list reads at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewObject:
    """An object that is about to be stored, whole."""

    bucket: str
    name: str
    about: ObjectAbout
    segments: tuple[Segment, ...]
    digests: Digests
    etag: str


class ObjectStore:
    """Rows in SQLite. Names are in the order of their bytes, as both services list them."""

    def __init__(self, db: sqlite3.Connection, clock: EmulatorClock) -> None:
        self.db = db
        self.contents = ContentStore(db)
        self._clock = clock

    def now(self) -> int:
        """Return microseconds since 1970."""
        return micros(self._clock.now())

    def bucket(self, name: str) -> StorageBucket | None:
        """Return the bucket of that name."""
        row = self.db.execute("select name, project, location, created from buckets where name = ?", (name,)).fetchone()
        return row and _bucket(row)

    def buckets(self, project: str) -> list[StorageBucket]:
        """List the buckets of a project by name."""
        query = "select name, project, location, created from buckets where project = ? order by name"
        return [_bucket(row) for row in self.db.execute(query, (project,))]

    def add_bucket(self, name: str, project: str, location: str) -> StorageBucket:
        """Create a bucket, which is not there yet."""
        bucket = StorageBucket(name=name, project=project, location=location, created=self.now())
        self.db.execute("insert into buckets values (?, ?, ?, ?)", (name, project, location, bucket.created))
        return bucket

    def is_empty(self, bucket: str) -> bool:
        """Return whether a bucket has no objects."""
        return self.db.execute("select 1 from objects where bucket = ? limit 1", (bucket,)).fetchone() is None

    def remove_bucket(self, name: str) -> None:
        """Remove an empty bucket."""
        self.db.execute("delete from buckets where name = ?", (name,))

    def find(self, bucket: str, name: str) -> StoredObject | None:
        """Return the object of that name."""
        row = self.db.execute("select json from objects where bucket = ? and name = ?", (bucket, name)).fetchone()
        return row and _object(bucket, name, json.loads(row[0]))

    def put(self, new: NewObject, *, upload: str | None = None) -> StoredObject:
        """Store an object in the place of the one of its name, and end its upload, in one transaction; raise StorageError."""
        with transaction(self.db):
            if self.bucket(new.bucket) is None:
                raise missing_bucket()  # it was deleted while the content came in
            self._kill(new.bucket, new.name)
            moment = self.now()
            stored = StoredObject(
                **{name: getattr(new, name) for name in NewObject.__dataclass_fields__},
                generation=self._next_generation(moment),
                metageneration=1,
                created=moment,
                updated=moment,
            )
            self._write(stored)
            if upload is not None:
                self.remove_upload(upload, alive=[segment.content for segment in new.segments])
        return stored

    def change(self, stored: StoredObject) -> None:
        """Store an object whose content is the same."""
        with transaction(self.db):
            self._write(stored)

    def remove(self, stored: StoredObject) -> None:
        """Remove an object with its content."""
        with transaction(self.db):
            self._kill(stored.bucket, stored.name)
            self.db.execute("delete from objects where bucket = ? and name = ?", (stored.bucket, stored.name))

    def iterate(self, bucket: str, start: str) -> Iterator[StoredObject]:
        """Yield the objects whose names are `start` or come after it, a batch at a time."""
        query = "select name, json from objects where bucket = ? and name >= ? order by name limit ?"
        while rows := self.db.execute(query, (bucket, start, BATCH)).fetchall():
            for name, text in rows:
                yield _object(bucket, name, json.loads(text))
            start = rows[-1][0] + "\0"

    def remove_upload(self, upload: str, *, alive: Sequence[int] = ()) -> None:
        """Forget an upload; its contents are deleted but for those that are `alive` in an object."""
        query = (
            "select content from uploads where id = ? and content is not null union select content from parts where upload = ?"
        )
        numbers = {row[0] for row in self.db.execute(query, (upload, upload))}
        self.contents.kill(numbers - set(alive))
        self.db.execute("delete from parts where upload = ?", (upload,))
        self.db.execute("delete from uploads where id = ?", (upload,))

    def tidy(self) -> None:
        """Delete, after a start, what a process that died was writing."""
        query = "select content from uploads where content is not null union select content from parts"
        alive = {row[0] for row in self.db.execute(query)}
        for (text,) in self.db.execute("select json from objects"):
            alive.update(segment["content"] for segment in json.loads(text)["segments"])
        self.contents.kill_unless(alive)

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    def _kill(self, bucket: str, name: str) -> None:
        if stored := self.find(bucket, name):
            self.contents.kill(segment.content for segment in stored.segments)

    def _next_generation(self, moment: int) -> int:
        """Return a generation that no object ever had: about the time, and always more than the last."""
        row = self.db.execute("select last from generations").fetchone()
        generation = max(moment, row[0] + 1 if row else 0)
        self.db.execute("delete from generations")
        self.db.execute("insert into generations values (?)", (generation,))
        return generation

    def _write(self, stored: StoredObject) -> None:
        text = json.dumps({key: value for key, value in asdict(stored).items() if key not in ("bucket", "name")})
        self.db.execute("insert or replace into objects values (?, ?, ?)", (stored.bucket, stored.name, text))


def _bucket(row: Sequence[Any]) -> StorageBucket:
    return StorageBucket(name=row[0], project=row[1], location=row[2], created=row[3])


def _object(bucket: str, name: str, fields: Mapping[str, Any]) -> StoredObject:
    parsed = {
        "about": ObjectAbout(**fields["about"]),
        "segments": tuple(Segment(**segment) for segment in fields["segments"]),
        "digests": Digests(**fields["digests"]),
    }
    return StoredObject(**{"bucket": bucket, "name": name, **fields, **parsed})
