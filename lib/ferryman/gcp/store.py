"""The base of every port over Firestore: the client of its process, transactions, queries, reads of several documents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ferryman.gcp.firestore import FirestoreClient

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncDocumentReference, AsyncTransaction, DocumentSnapshot

Result = TypeVar("Result")
Condition = tuple[str, str, Any]
"""A condition of a query: a field, an operator as Firestore writes it, and a value."""


class FirestoreStore:
    """A port over Firestore."""

    def __init__(self, clients: FirestoreClient) -> None:
        self._clients = clients

    @property
    def _client(self) -> AsyncClient:
        return self._clients.firestore()

    async def _transact(self, work: Callable[[AsyncTransaction], Awaitable[Result]]) -> Result:
        return await transact(self._client.transaction(), work)


async def transact(transaction: AsyncTransaction, work: Callable[[AsyncTransaction], Awaitable[Result]]) -> Result:
    """Return what `work` returns, once all that it wrote is committed; nothing is written where it raises.

    The client calls `work` again, at most five times in all, where another transaction was in its way: it must read before it
    writes, and change nothing besides. Raise what `work` raises, or the client's errors, which `translate_errors` translates.
    """
    from google.cloud.firestore import async_transactional

    result: Result = await async_transactional(work)(transaction)
    return result


async def read_together(
    client: AsyncClient, references: list[AsyncDocumentReference], transaction: AsyncTransaction | None = None
) -> dict[str, DocumentSnapshot[Any]]:
    """Read several documents at once, and return them by path; one that does not exist is a snapshot that says so."""
    snapshots = client.get_all(references, transaction=transaction)
    return {snapshot.reference.path: snapshot async for snapshot in snapshots}


def filter_by(query: Any, *conditions: Condition) -> Any:
    """Return the query of those documents of a collection, or of another query, that meet every condition."""
    from google.cloud.firestore import FieldFilter

    for condition in conditions:
        query = query.where(filter=FieldFilter(*condition))
    return query
