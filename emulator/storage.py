"""Storage: opens a service's SQLite file, and converts times as it stores them."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def make_folder(path: Path) -> Path:
    """Make sure the folder is there, readable by its owner alone."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def open_store(path: Path | None, name: str, schema: str) -> sqlite3.Connection:
    """Open `name`.sqlite in the folder `path` (in memory for None), and make its tables.

    Each statement commits by itself, or group some with `with transaction(db)`. What is committed survives the
    death of the process; the death of the machine may cost the last moments (WAL, synchronous=NORMAL).
    """
    if path is None:
        place = ":memory:"
    else:
        file = make_folder(path) / f"{name}.sqlite"
        # Made by hand before SQLite does, which would let others read it; its WAL takes the same mode.
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
        place = str(file)
    db = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
    db.executescript("pragma journal_mode=wal; pragma synchronous=normal; pragma secure_delete=on;" + schema)
    return db


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Commit all of the statements inside, or none."""
    db.execute("begin immediate")
    try:
        yield
    except BaseException:
        db.execute("rollback")
        raise
    db.execute("commit")


def micros(moment: datetime) -> int:
    """Return microseconds since 1970, as the tables hold times."""
    return (moment - EPOCH) // MICROSECOND


def read_moment(micros: int) -> datetime:
    """Return the time in UTC of so many microseconds since 1970."""
    return EPOCH + micros * MICROSECOND
