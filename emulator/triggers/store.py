"""Where events wait until they were acknowledged."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from emulator.storage import micros, read_moment, transaction

# An event under way has no due time. Of events due together, the one that happened first is the first (number).
SCHEMA = """
create table if not exists events (
    number integer primary key autoincrement, trigger text not null, made integer not null, due integer,
    failures integer not null default 0, headers text not null, body blob not null);
create index if not exists events_due on events (trigger, due) where due is not null;
create index if not exists events_made on events (made);
create table if not exists triggers (
    name text primary key, since integer not null, event text not null, document text not null) without rowid;
create table if not exists heard (only integer primary key check (only = 1), at integer not null, name text not null);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedEvent:
    """An event on its way to one trigger's function."""

    number: int
    created: datetime
    failures: int
    headers: dict[str, str]
    body: bytes


class EventStore:
    """Rows in SQLite."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def register(self, name: str, event: str, document: str, now: datetime) -> None:
        """Keep what a trigger is for; one that was for the same already, is since then."""
        query = """insert into triggers values (?, ?, ?, ?) on conflict (name) do update set
                   since = excluded.since, event = excluded.event, document = excluded.document
                   where event != excluded.event or document != excluded.document"""
        self._db.execute(query, (name, micros(now), event, document))

    def forget(self, name: str) -> None:
        """Keep no new events for a trigger."""
        self._db.execute("delete from triggers where name = ?", (name,))

    def registered(self) -> list[tuple[str, datetime, str, str]]:
        """Return every trigger: name, since when, type of event, pattern of documents."""
        rows = self._db.execute("select name, since, event, document from triggers order by name").fetchall()
        return [(name, read_moment(since), event, document) for name, since, event, document in rows]

    def heard(self) -> tuple[datetime, str] | None:
        """Return the last change that made events: its time and its document."""
        row = self._db.execute("select at, name from heard").fetchone()
        return row and (read_moment(row[0]), row[1])

    def add(
        self,
        events: Sequence[tuple[str, dict[str, str], bytes]],
        now: datetime,
        *,
        due: datetime,
        heard: tuple[datetime, str],
    ) -> None:
        """Keep the events of one change (`heard`: when, and of which document), and that they are kept, until they are `due`.

        Each is the name of a trigger, headers and a body.
        """
        rows = [(trigger, micros(now), micros(due), json.dumps(headers), body) for trigger, headers, body in events]
        with transaction(self._db):
            self._db.executemany("insert into events (trigger, made, due, headers, body) values (?, ?, ?, ?, ?)", rows)
            self._db.execute("insert or replace into heard values (1, ?, ?)", (micros(heard[0]), heard[1]))

    def recover(self, trigger: str) -> None:
        """Make due again what was under way when its delivery was cut off."""
        self._db.execute("update events set due = 0 where trigger = ? and due is null", (trigger,))

    def next_due(self, trigger: str) -> datetime | None:
        """Return when the first of a trigger's events is due."""
        query = "select min(due) from events where trigger = ? and due is not null"
        (due,) = self._db.execute(query, (trigger,)).fetchone()
        return None if due is None else read_moment(due)

    def take(self, trigger: str) -> QueuedEvent:
        """Take the event that is due first; it is in flight from now on."""
        query = """update events set due = null where number =
                   (select number from events where trigger = ? and due is not null order by due, number limit 1)
                   returning number, made, failures, headers, body"""
        number, created, failures, headers, body = self._db.execute(query, (trigger,)).fetchone()
        return QueuedEvent(
            number=number, created=read_moment(created), failures=failures, headers=json.loads(headers), body=body
        )

    def failed(self, event: QueuedEvent, due: datetime) -> None:
        """Keep an event for another attempt."""
        row = (micros(due), event.failures + 1, event.number)
        self._db.execute("update events set due = ?, failures = ? where number = ?", row)

    def remove(self, event: QueuedEvent) -> None:
        """Remove an event that was acknowledged, or given up."""
        self._db.execute("delete from events where number = ?", (event.number,))

    def expire(self, before: datetime) -> int:
        """Remove events made before a time; returns how many."""
        return self._db.execute("delete from events where made < ?", (micros(before),)).rowcount

    def close(self) -> None:
        """Close the file."""
        self._db.close()
