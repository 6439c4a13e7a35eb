"""The store: all databases, the one clock they commit by, and the single way a write gets in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from . import writes as rules
from .disk import Disk
from .errors import invalid
from .history import History, Version
from .limits import PRODUCTION, Limits
from .paths import check_database, check_document, database_of
from .wire import Document, Write, WriteResult, micros_of, moment_of


def utcnow() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """One document's change in one commit; the documents are shared and must not be altered."""

    name: str
    before: Document | None
    after: Document | None
    at: datetime


Listener = Callable[[DocumentChange], None]


class DocumentStore:
    """Every database of every project; one that nobody has named yet is made when it is."""

    def __init__(self, *, clock: Callable[[], datetime] = utcnow, limits: Limits = PRODUCTION) -> None:
        self.limits = limits
        self.listeners: list[Listener] = []
        self.wakers: dict[str, set[Callable[[set[str]], None]]] = {}
        """Called with the names changed in a commit, by database."""
        self._clock = clock
        self._histories: dict[str, History] = {}
        self._disk: Disk | None = None
        self._last = 0
        self._horizon = 0

    def open(self, path: Path) -> None:
        """Load the file and write through to it from now on; raise RuntimeError when it is in use."""
        self._disk = Disk(path)
        versions = list(self._disk.load())
        self._last = self._horizon = max((version.at for version in versions), default=0)
        for version in versions:
            if version.document is not None:
                self.history(database_of(version.name)).load(version)

    def close(self) -> None:
        if self._disk is not None:
            self._disk.close()
            self._disk = None

    def last_commit(self) -> list[DocumentChange]:
        """Return what the last commit in the file changed, in its order; nothing where there is no file."""
        history = self._disk.last_commit() if self._disk else ()
        return [DocumentChange(name=v.name, before=before, after=v.document, at=moment_of(v.at)) for v, before in history]

    def history(self, database: str) -> History:
        if database not in self._histories:
            check_database(database)
            self._histories[database] = History(database, horizon=self._horizon)
        return self._histories[database]

    def histories(self) -> list[History]:
        """Return the histories of every database so far."""
        return list(self._histories.values())

    def now(self) -> int:
        """Return a moment (micros) that sees every commit so far and none to come."""
        self._last = max(self._last, micros_of(self._clock()))
        return self._last

    def commit(self, database: str, writes: Sequence[Write]) -> tuple[int, list[WriteResult]]:
        """Apply all writes or none; the moment (micros) and a result for each.

        Raise NOT_FOUND, ALREADY_EXISTS, FAILED_PRECONDITION, INVALID_ARGUMENT.
        """
        history = self.history(database)
        if sum(write.ByteSize() for write in writes) > self.limits.request_bytes:
            raise invalid(f"Request payload size exceeds the limit: {self.limits.request_bytes} bytes.")
        rules.check_transforms(writes, self.limits.transforms_per_document)
        at = max(self._last + 1, micros_of(self._clock()))
        before: dict[str, Document | None] = {}
        after: dict[str, Document | None] = {}
        results = []
        for write in writes:
            name = rules.find_target(write)
            if name not in before:
                check_document(database, name)
                before[name] = after[name] = history.current(name)
            after[name], result = rules.apply(write, after[name], at, self.limits)
            results.append(result)
        versions = [Version(name=name, at=at, document=after[name]) for name in after if after[name] is not before[name]]
        if versions and self._disk is not None:
            self._disk.write(versions, before)
        self._last = at
        for version in versions:
            history.add(version)
        self._tell(database, versions, before)
        return at, results

    def _tell(self, database: str, versions: list[Version], before: dict[str, Document | None]) -> None:
        if not versions:
            return
        for listener in self.listeners:
            for version in versions:
                moment = moment_of(version.at)
                listener(DocumentChange(name=version.name, before=before[version.name], after=version.document, at=moment))
        for wake in self.wakers.get(database, ()):
            wake({version.name for version in versions})
