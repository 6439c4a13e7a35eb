"""Databases: what a call finds by the name of the database it is about, and the view that a read has of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .history import History, Version
from .indexes import Indexes
from .paths import database_of
from .query import Query
from .store import DocumentStore
from .transactions import Transaction, Transactions, read_time


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadView:
    """What one read sees: a moment (micros), and the read-write transaction that takes note of it."""

    history: History
    at: int
    noting: Transaction | None = None
    opened: bytes = b""
    """The token of the transaction that this read has opened."""

    def get(self, name: str) -> Version | None:
        if self.noting is not None:
            self.noting.names.add(name)
        return self.history.get(name, self.at)

    def run(self, query: Query) -> list[Version]:
        versions = query.run(self.at)
        if self.noting is not None:
            self.noting.queries.append((query, [(version.name, version.at) for version in versions]))
        return versions


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """One database: its documents and its open transactions."""

    store: DocumentStore
    history: History
    transactions: Transactions
    indexes: Indexes | None = None

    def query(self, parent: str, structured: Any, *, needs: Sequence[str] = ()) -> Query:
        """Return a client's query of this database; raise INVALID_ARGUMENT, and FAILED_PRECONDITION for want of an index."""
        query = Query(self.history, parent, structured, needs=needs)
        if self.indexes is not None:
            self.indexes.check(query)
        return query

    async def view(self, request: Any) -> ReadView:
        """Return the view that a request's consistency selector asks for.

        Waits only when the request opens a transaction that retries an aborted one. Raise INVALID_ARGUMENT and
        FAILED_PRECONDITION.
        """
        match request.WhichOneof("consistency_selector"):
            case "transaction":
                return self._within(self.transactions.get(request.transaction))
            case "new_transaction":
                transaction = await self.transactions.begin(request.new_transaction)
                return self._within(transaction, opened=transaction.token)
            case "read_time":
                return ReadView(history=self.history, at=read_time(self.store, self.history, request.read_time))
        return ReadView(history=self.history, at=self.store.now())

    def _within(self, transaction: Transaction, *, opened: bytes = b"") -> ReadView:
        return ReadView(
            history=self.history,
            at=self.transactions.snapshot(transaction),
            noting=None if transaction.read_only else transaction,
            opened=opened,
        )


class Databases:
    """All databases of a store, each made when it is first named."""

    def __init__(self, store: DocumentStore, indexes: Indexes | None = None) -> None:
        """Refuse queries that `indexes` do not serve, where there are any."""
        self._store = store
        self._indexes = indexes
        self._databases: dict[str, Database] = {}

    def find(self, name: str) -> Database:
        """Return the database of this name; raise INVALID_ARGUMENT."""
        if name not in self._databases:
            history = self._store.history(name)
            transactions = Transactions(self._store, history)
            self._databases[name] = Database(
                store=self._store, history=history, transactions=transactions, indexes=self._indexes
            )
        return self._databases[name]

    def find_for(self, path: str) -> Database:
        """Return the database that a document or a parent lies in."""
        return self.find(database_of(path))
