"""Where secrets and their versions lie."""

import sqlite3
from typing import Any

from google.cloud import secretmanager_v1

from emulator.rpc import blobs
from emulator.storage import transaction

Secret = secretmanager_v1.Secret.pb()
Version = secretmanager_v1.SecretVersion.pb()

SCHEMA = """
create table if not exists secrets (
    name text unique, parent text not null, made integer primary key autoincrement, proto blob not null);
create index if not exists secrets_by_parent on secrets (parent, made);
create table if not exists versions (
    secret text not null, number integer not null, proto blob not null, payload blob, primary key (secret, number));
"""


class SecretStore:
    """Rows in SQLite; a version's payload is gone for good once it is destroyed."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def secret(self, name: str) -> Any | None:
        """Return the Secret of that name."""
        row = self._db.execute("select proto from secrets where name = ?", (name,)).fetchone()
        return row and Secret.FromString(row[0])

    def add(self, parent: str, secret: Any) -> None:
        """Keep a new Secret."""
        row = (secret.name, parent, secret.SerializeToString())
        self._db.execute("insert into secrets (name, parent, proto) values (?, ?, ?)", row)

    def keep(self, secret: Any) -> None:
        """Keep a Secret that changed."""
        self._db.execute("update secrets set proto = ? where name = ?", (secret.SerializeToString(), secret.name))

    def remove(self, name: str) -> None:
        """Remove a secret with all of its versions."""
        with transaction(self._db):
            self._db.execute("delete from versions where secret = ?", (name,))
            self._db.execute("delete from secrets where name = ?", (name,))
        self._wipe()

    def count(self, parent: str) -> int:
        """Return how many secrets a project has."""
        return int(self._db.execute("select count(*) from secrets where parent = ?", (parent,)).fetchone()[0])

    def secrets(self, parent: str, size: int, start: int) -> list[Any]:
        """List secrets, newest first."""
        query = "select proto from secrets where parent = ? order by made desc limit ? offset ?"
        return blobs(self._db.execute(query, (parent, size, start)).fetchall(), Secret)

    def newest(self, secret: str) -> int:
        """Return the number of the newest version, 0 when there is none."""
        query = "select coalesce(max(number), 0) from versions where secret = ?"
        return int(self._db.execute(query, (secret,)).fetchone()[0])

    def version(self, secret: str, number: int) -> tuple[Any, bytes | None] | None:
        """Return a SecretVersion and its payload, None where that was destroyed."""
        query = "select proto, payload from versions where secret = ? and number = ?"
        row = self._db.execute(query, (secret, number)).fetchone()
        return row and (Version.FromString(row[0]), row[1])

    def add_version(self, secret: str, number: int, version: Any, payload: bytes) -> None:
        """Keep a new SecretVersion."""
        row = (secret, number, version.SerializeToString(), payload)
        self._db.execute("insert into versions values (?, ?, ?, ?)", row)

    def keep_version(self, secret: str, number: int, version: Any) -> None:
        """Keep a SecretVersion that changed."""
        row = (version.SerializeToString(), secret, number)
        self._db.execute("update versions set proto = ? where secret = ? and number = ?", row)

    def destroy(self, secret: str, number: int, version: Any) -> None:
        """Keep a SecretVersion without its payload."""
        row = (version.SerializeToString(), secret, number)
        self._db.execute("update versions set proto = ?, payload = null where secret = ? and number = ?", row)
        self._wipe()

    def count_versions(self, secret: str) -> int:
        """Return how many versions a secret has, destroyed ones too."""
        return int(self._db.execute("select count(*) from versions where secret = ?", (secret,)).fetchone()[0])

    def versions(self, secret: str, size: int, start: int) -> list[Any]:
        """List versions, newest first."""
        query = "select proto from versions where secret = ? order by number desc limit ? offset ?"
        return blobs(self._db.execute(query, (secret, size, start)).fetchall(), Version)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _wipe(self) -> None:
        # The write-ahead log would keep what was just destroyed until it happens to be overwritten.
        self._db.execute("pragma wal_checkpoint(truncate)")
