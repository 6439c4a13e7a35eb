"""The disk: the latest version of every document, written through to one SQLite file before a commit is answered."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .history import Version
from .wire import Document

# A deletion keeps its row while it may be the last commit, for time must not run backwards after a restart.
SCHEMA = """
create table if not exists documents (name text primary key, at integer not null, wire blob) without rowid;
create table if not exists last_commit (place integer primary key, name text not null, at integer not null, before blob);
delete from documents where wire is null and at < (select max(at) from documents);
"""


class Disk:
    """One SQLite file in WAL mode: what was committed survives the death of the process at any line.

    The death of the machine may cost the last moments, for SQLite syncs only at its checkpoints.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the file; raise RuntimeError when another process has it open."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite itself would let others read the file; its WAL takes the same mode.
        path.touch(mode=0o600)
        self._connection = sqlite3.connect(path, timeout=0)
        try:
            self._connection.execute("pragma locking_mode = exclusive")
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("pragma synchronous = normal")
            self._connection.execute("pragma secure_delete = on")
            self._connection.executescript(SCHEMA)
        except sqlite3.OperationalError as error:
            self._connection.close()
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            raise RuntimeError(f"{path} is in use by another process") from error

    def load(self) -> Iterator[Version]:
        """Yield the latest version of every document, with no document for a deleted one."""
        for name, at, wire in self._connection.execute("select name, at, wire from documents"):
            yield Version(name=name, at=at, document=decode(wire))

    def last_commit(self) -> Iterator[tuple[Version, Document | None]]:
        """Yield what the last commit changed, in its order, each with what was there before."""
        query = "select name, at, wire, before from last_commit join documents using (name, at) order by place"
        for name, at, wire, before in self._connection.execute(query):
            yield Version(name=name, at=at, document=decode(wire)), decode(before)

    def write(self, versions: Sequence[Version], before: Mapping[str, Document | None]) -> None:
        """Store all of them or none, and what was there `before`, for listeners that are told after a crash."""
        rows = [(v.name, v.at, encode(v.document)) for v in versions]
        with self._connection:
            self._connection.executemany("insert or replace into documents values (?, ?, ?)", rows)
            self._connection.execute("delete from last_commit")
            journal = ((v.name, v.at, encode(before[v.name])) for v in versions)
            self._connection.executemany("insert into last_commit (name, at, before) values (?, ?, ?)", journal)

    def close(self) -> None:
        self._connection.close()


def encode(document: Document | None) -> bytes | None:
    return None if document is None else bytes(document.SerializeToString())


def decode(wire: bytes | None) -> Document | None:
    return None if wire is None else Document.FromString(wire)
