"""The base of every port over Firestore: the client of its process, transactions, queries, reads of several documents."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.places import Places

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncDocumentReference, AsyncTransaction, DocumentSnapshot

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Store = TypeVar("Store", bound="FirestoreStore")
Transaction: TypeAlias = "AsyncTransaction"
Reference: TypeAlias = "AsyncDocumentReference"
Snapshot: TypeAlias = "DocumentSnapshot[Any]"
Condition = tuple[str, str, Any]
"""A condition of a query: a field, an operator as Firestore writes it, and a value."""


class FirestoreStore:
    """A port over Firestore: its public coroutines raise `UnavailableError` for a transient fault (`translate_errors`)."""

    def __init__(self, clients: FirestoreClient) -> None:
        self._clients = clients

    def __init_subclass__(cls) -> None:
        translate_errors(cls)

    @property
    def _client(self) -> AsyncClient:
        return self._clients.firestore()

    @property
    def _places(self) -> Places:
        return Places(self._client)


def in_transaction(
    method: Callable[Concatenate[Store, Transaction, Arguments], Awaitable[Result]],
) -> Callable[Concatenate[Store, Arguments], Coroutine[Any, Any, Result]]:
    """Make the method of a store take a transaction of its own before its other arguments.

    What it wrote is committed once it returns; nothing is written where it raises. The client calls it again, at most five
    times in all, where another transaction was in its way: it must read before it writes, and change nothing besides. Raise
    what the method raises, or the client's errors.
    """

    @functools.wraps(method)
    async def transact(store: Store, /, *args: Arguments.args, **named: Arguments.kwargs) -> Result:
        return await run_transaction(store._client.transaction(), lambda started: method(store, started, *args, **named))

    return transact


async def run_transaction(transaction: Transaction, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
    """Return what `work` returns, run in `transaction` as `in_transaction` runs a method."""
    from google.cloud.firestore import async_transactional

    result: Result = await async_transactional(work)(transaction)
    return result


async def read_together(
    client: AsyncClient,
    references: list[Reference],
    transaction: Transaction | None = None,
    *,
    names: Sequence[str] | None = None,
) -> dict[str, Snapshot]:
    """Read several documents at once, and return them by path; one that does not exist is a snapshot that says so.

    With `names`, those fields alone.
    """
    snapshots = client.get_all(references, names, transaction=transaction)
    return {snapshot.reference.path: snapshot async for snapshot in snapshots}


async def get_readable(
    reference: Reference, transaction: Transaction | None = None, *, names: Sequence[str] | None = None
) -> Snapshot | None:
    """Return the document, or None where Google's client cannot read it; with `names`, those fields alone.

    It raises ValueError for a reference into another database, which anybody who may write a document can store.
    """
    try:
        return await reference.get(names, transaction=transaction)
    except ValueError:
        return None


async def list_readable(query: Any, transaction: Transaction | None = None, *, names: Sequence[str] = ()) -> list[Snapshot]:
    """Return what `query` finds; of a document that Google's client cannot read, the fields `names`, which it can."""
    try:
        return [snapshot async for snapshot in query.stream(transaction=transaction)]
    except ValueError:
        partial = [snapshot async for snapshot in query.select(names).stream(transaction=transaction)]
        return [await get_readable(snapshot.reference, transaction) or snapshot for snapshot in partial]


def filter_by(query: Any, *conditions: Condition) -> Any:
    """Return the query of those documents of a collection, or of another query, that meet every condition."""
    from google.cloud.firestore import FieldFilter

    for condition in conditions:
        query = query.where(filter=FieldFilter(*condition))
    return query


async def count_found(query: Any, transaction: Transaction) -> int:
    """Count the documents that `query` finds. Where another transaction adds one meanwhile, this one runs again."""
    return int((await query.count().get(transaction=transaction))[0][0].value)
