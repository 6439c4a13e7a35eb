"""Transactions: optimistic, serialisable, and patient on the second attempt.

A transaction reads one snapshot. At its commit everything it read is looked at again, the results of its queries
included; if anything changed it is ABORTED at once. An attempt that retries an aborted one first queues for the documents
the aborted one touched, so that under contention every client gets through. Reads never wait.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import aborted, failed_precondition, invalid
from .history import History
from .limits import READ_TIME_MICROS
from .paths import places_of
from .query import Query
from .store import DocumentStore
from .turns import Holder, WriteTurns
from .wire import Write, WriteResult, micros
from .writes import find_target

REMEMBERED = 1_000
"""How many aborted transactions a database remembers for their retries."""
TOUCHED = 500
"""For how many places a retry queues at most; validation covers the rest."""
ASTRAY_SECONDS = 0.25
"""How long the retry of an aborted attempt is expected under another name, and how soon its turn lapses."""
LIFETIME_SECONDS = 270.0
"""How long production lets a transaction live."""
IDLE_SECONDS = 60.0
"""How long production lets it say nothing."""

Seen = list[tuple[str, int]]


@dataclass(eq=False, slots=True, kw_only=True)
class Transaction:
    """One attempt. `snapshot` (micros) is fixed by the first read, `origin` is the first attempt's token.

    `expires` and `spoke`, its last sign of life, are in the event loop's time.
    """

    token: bytes
    origin: bytes
    read_only: bool
    expires: float
    spoke: float
    snapshot: int | None = None
    names: set[str] = field(default_factory=set)
    queries: list[tuple[Query, Seen]] = field(default_factory=list)
    holder: Holder = field(default_factory=Holder)


class Transactions:
    """The open transactions of one database."""

    def __init__(self, store: DocumentStore, history: History) -> None:
        self._store = store
        self._history = history
        self._turns = WriteTurns()
        self._open: dict[bytes, Transaction] = {}
        self._aborted: dict[bytes, tuple[str, ...]] = {}
        """What the attempts of an origin have touched; also the tokens that may still be rolled back."""
        self._astray: dict[bytes, tuple[float, set[str]]] = {}
        """What was fought over by aborted origins that no retry has named yet, and until when that counts."""

    async def begin(self, options: Any) -> Transaction:
        """Open a transaction by its TransactionOptions; a retry waits here for its turn."""
        self._expire()
        retried = options.read_write.retry_transaction
        token = os.urandom(16)
        transaction = Transaction(
            token=token,
            origin=retried or token,
            read_only=options.HasField("read_only"),
            expires=loop_time() + LIFETIME_SECONDS,
            spoke=loop_time(),
        )
        if transaction.read_only:
            self._fix(transaction, options.read_only)
        await self._queue(transaction.holder, retried)
        transaction.spoke = loop_time()
        self._open[token] = transaction
        return transaction

    def get(self, token: bytes) -> Transaction:
        """Return an open transaction; raise INVALID_ARGUMENT."""
        self._expire()
        transaction = self._open.get(token)
        if transaction is None:
            raise invalid("The referenced transaction is invalid, closed or has expired.")
        transaction.spoke = loop_time()
        self._turns.touch(transaction.holder)
        return transaction

    def snapshot(self, transaction: Transaction) -> int:
        """Return the moment (micros) that all reads of a transaction see."""
        if transaction.snapshot is None:
            transaction.snapshot = self._store.now()
        return transaction.snapshot

    def rollback(self, token: bytes) -> None:
        """Give up a transaction; one that was aborted may be rolled back too."""
        if token not in self._aborted:
            self._end(self.get(token))

    async def commit(self, token: bytes, writes: Sequence[Write]) -> tuple[int, list[WriteResult]]:
        """Commit in a transaction, or on its own when the token is empty.

        Raise ABORTED when something read has changed since, and whatever the writes raise; after the latter the
        transaction is still open, so that the client can roll it back.
        """
        names = {find_target(write) for write in writes}
        places = {place for name in names for place in places_of(name)}
        if not token:
            async with self._turns.hold(places):
                return self._store.commit(self._history.database, writes)
        transaction = self.get(token)
        if transaction.read_only and names:
            raise invalid("Cannot modify entities in a read-only transaction.")
        self._validate(transaction, names)
        # A holder of turns goes on at once: were it to wait for others' turns, two holders could wait for each other.
        async with self._turns.hold(set() if transaction.holder.names else places):
            self.get(token)
            self._validate(transaction, names)
            done = self._store.commit(self._history.database, writes)
        self._end(transaction)
        return done

    async def _queue(self, holder: Holder, retried: bytes) -> None:
        """Wait for what the retried attempt has touched.

        The Python client keeps the retried token on the decorated function: when that runs concurrently, retries come
        under another's token or none. So while the retry of an aborted attempt is awaited, any new transaction may be it,
        and queues for the same documents, with a turn that expires soon.
        """
        if retried in self._aborted:
            self._astray.pop(retried, None)
            await self._turns.take(holder, self._aborted[retried])
            return
        now = loop_time()
        self._astray = {token: entry for token, entry in self._astray.items() if entry[0] > now}
        if self._astray:
            holder.lapse = ASTRAY_SECONDS
            await self._turns.take(holder, set().union(*(places for _, places in self._astray.values())))

    def _fix(self, transaction: Transaction, options: Any) -> None:
        if options.HasField("read_time"):
            transaction.snapshot = read_time(self._store, self._history, options.read_time)
        else:
            transaction.snapshot = self._store.now()

    def _validate(self, transaction: Transaction, written: set[str]) -> None:
        """Refuse to commit what rests on something that has changed; raise ABORTED."""
        if transaction.read_only or transaction.snapshot is None:
            return
        lost = transaction.snapshot < self._history.horizon
        conflicts = self._conflicts(transaction, transaction.snapshot)
        if not lost and not conflicts:
            return
        self._astray[transaction.origin] = (loop_time() + ASTRAY_SECONDS, conflicts)
        touched = transaction.names | written | conflicts
        for token in (transaction.origin, transaction.token):
            self._aborted[token] = tuple(sorted({*touched, *self._aborted.get(token, ())})[:TOUCHED])
        while len(self._aborted) > REMEMBERED:
            del self._aborted[next(iter(self._aborted))]
        self._end(transaction)
        raise aborted("Too much contention on these documents. Please try again.")

    def _conflicts(self, transaction: Transaction, snapshot: int) -> set[str]:
        """Return the places that a retry has to queue for: the documents that have changed, the places of queries that see
        others now."""
        changed = self._history.changed_since(snapshot)
        conflicts = transaction.names & changed
        now = self._store.now()
        for query, seen in transaction.queries:
            moved = {name for name in changed if query.covers(name) and query.would_find(name, snapshot, now)}
            if moved and (not query.windowed or seen != seen_of(query, now)):
                conflicts |= query.places
        return conflicts

    def _end(self, transaction: Transaction) -> None:
        self._open.pop(transaction.token, None)
        self._turns.release(transaction.holder)

    def _expire(self) -> None:
        now = loop_time()
        for transaction in [t for t in self._open.values() if t.expires < now or t.spoke + IDLE_SECONDS < now]:
            self._end(transaction)


def loop_time() -> float:
    return asyncio.get_running_loop().time()


def seen_of(query: Query, at: int) -> Seen:
    return [(version.name, version.at) for version in query.run(at)]


def read_time(store: DocumentStore, history: History, timestamp: Any) -> int:
    """Return the moment (micros) of a request's read_time; raise INVALID_ARGUMENT and FAILED_PRECONDITION."""
    at, now = micros(timestamp), store.now()
    if at > now:
        raise invalid("The requested 'read_time' cannot be in the future.")
    if at < now - READ_TIME_MICROS:
        raise failed_precondition("The requested 'read_time' is too old.")
    history.check(at)
    return at
