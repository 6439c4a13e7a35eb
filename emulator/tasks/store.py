"""Where queues, tasks and the names of past tasks lie; what is due is found in an index, not by a scan."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from google.cloud import tasks_v2

from emulator.rpc import blobs
from emulator.storage import micros, read_moment, transaction

Queue = tasks_v2.Queue.pb()
Task = tasks_v2.Task.pb()
TOMBSTONE = timedelta(hours=1)
"""How long a task's name cannot be used again."""

# A task under way has no due time. Of tasks due together, the one made first is the first (rowid).
SCHEMA = """
create table if not exists queues (name text primary key, parent text not null, proto blob not null);
create table if not exists tasks (name text primary key, queue text not null, due integer, proto blob not null);
create index if not exists tasks_due on tasks (queue, due) where due is not null;
create index if not exists tasks_by_queue on tasks (queue, name);
create table if not exists tombstones (name text primary key, until integer not null) without rowid;
create index if not exists tombstones_until on tombstones (until);
"""


class TaskStore:
    """Rows in SQLite: the only state of the service that matters."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def recover(self) -> None:
        """Make due again what was under way when the last process died."""
        self._db.execute("update tasks set due = 0 where due is null")

    def queue(self, name: str) -> Any | None:
        """Return the Queue of that name."""
        row = self._db.execute("select proto from queues where name = ?", (name,)).fetchone()
        return row and Queue.FromString(row[0])

    def every_queue(self) -> list[Any]:
        """Return all Queues there are."""
        return blobs(self._db.execute("select proto from queues").fetchall(), Queue)

    def count_queues(self, parent: str) -> int:
        """Return how many queues a location has."""
        return int(self._db.execute("select count(*) from queues where parent = ?", (parent,)).fetchone()[0])

    def queues(self, parent: str, size: int, start: int) -> list[Any]:
        """List queues by name."""
        query = "select proto from queues where parent = ? order by name limit ? offset ?"
        return blobs(self._db.execute(query, (parent, size, start)).fetchall(), Queue)

    def keep_queue(self, queue: Any) -> None:
        """Keep a Queue, new or changed."""
        row = (queue.name, queue.name.split("/queues/")[0], queue.SerializeToString())
        self._db.execute("insert or replace into queues values (?, ?, ?)", row)

    def remove_queue(self, name: str, now: datetime) -> None:
        """Remove a queue with all of its tasks."""
        with self._burying(now):
            self._bury(name, now)
            self._db.execute("delete from queues where name = ?", (name,))

    def purge(self, queue: Any, now: datetime) -> None:
        """Remove all tasks of a queue, and keep the Queue."""
        with self._burying(now):
            self._bury(queue.name, now)
            self.keep_queue(queue)

    def task(self, name: str) -> Any | None:
        """Return the Task of that name."""
        row = self._db.execute("select proto from tasks where name = ?", (name,)).fetchone()
        return row and Task.FromString(row[0])

    def is_taken(self, name: str, now: datetime) -> bool:
        """Return whether a task has this name, or had it within the last hour."""
        query = """select exists (select 1 from tasks where name = :name)
                   or exists (select 1 from tombstones where name = :name and until > :now)"""
        return bool(self._db.execute(query, {"name": name, "now": micros(now)}).fetchone()[0])

    def add(self, queue: str, task: Any) -> None:
        """Keep a new Task, due at its schedule_time."""
        row = (task.name, queue, task.schedule_time.ToMicroseconds(), task.SerializeToString())
        self._db.execute("insert into tasks values (?, ?, ?, ?)", row)

    def count(self, queue: str) -> int:
        """Return how many tasks a queue has."""
        return int(self._db.execute("select count(*) from tasks where queue = ?", (queue,)).fetchone()[0])

    def tasks(self, queue: str, size: int, start: int) -> list[Any]:
        """List tasks by name."""
        query = "select proto from tasks where queue = ? order by name limit ? offset ?"
        return blobs(self._db.execute(query, (queue, size, start)).fetchall(), Task)

    def next(self, queue: str) -> tuple[str, datetime] | None:
        """Return the name of the task that is due first, and when."""
        query = "select name, due from tasks where queue = ? and due is not null order by due, rowid limit 1"
        row = self._db.execute(query, (queue,)).fetchone()
        return row and (row[0], read_moment(row[1]))

    def under_way(self, task: Any) -> None:
        """Keep a Task that is being sent: it is not due."""
        self._db.execute("update tasks set due = null, proto = ? where name = ?", (task.SerializeToString(), task.name))

    def due_again(self, task: Any) -> None:
        """Keep a Task that failed, due at its schedule_time; unless it was deleted meanwhile."""
        row = (task.schedule_time.ToMicroseconds(), task.SerializeToString(), task.name)
        self._db.execute("update tasks set due = ?, proto = ? where name = ?", row)

    def remove(self, name: str, now: datetime) -> None:
        """Remove a task, whose name stays taken for an hour."""
        with self._burying(now):
            self._bury(name, now)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _burying(self, now: datetime) -> Iterator[None]:
        with transaction(self._db):
            self._db.execute("delete from tombstones where until <= ?", (micros(now),))
            yield

    def _bury(self, name: str, now: datetime) -> None:
        """Remove the task of that name, or every task of the queue of that name."""
        self._db.execute(
            "insert or replace into tombstones select name, :until from tasks where name = :name or queue = :name",
            {"name": name, "until": micros(now + TOMBSTONE)},
        )
        self._db.execute("delete from tasks where name = :name or queue = :name", {"name": name})
