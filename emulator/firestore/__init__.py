"""Firestore: google.firestore.v1 in this process, serialisable and durable, for the real client libraries."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import grpc

from .databases import Databases
from .expiry import expire
from .indexes import Indexes
from .limits import NONE, PRODUCTION, SERVER_OPTIONS, Limits
from .service import handler
from .store import DocumentChange, DocumentStore, Listener, utcnow

__all__ = ["NONE", "PRODUCTION", "SERVER_OPTIONS", "DocumentChange", "FirestoreEmulator", "Limits"]


class FirestoreEmulator:
    """One emulated Firestore with all its projects and databases, which exist as soon as they are named.

    Everything happens on the event loop that serves the handler. The server needs SERVER_OPTIONS to take requests as
    large as production's.
    """

    def __init__(
        self,
        *,
        path: Path | None,
        clock: Callable[[], datetime] = utcnow,
        limits: Limits = PRODUCTION,
        indexes: Path | None = None,
    ) -> None:
        """Keep everything in the SQLite file `path`, or in memory for None. `clock` gives aware datetimes.

        `indexes` is a file in Firebase's format: what it does not declare is refused as production refuses it; None
        serves every query. Raise OSError and ValueError when that file cannot be used.
        """
        self._path = path
        self.indexes = None if indexes is None else Indexes(indexes)
        self._store = DocumentStore(clock=clock, limits=limits)
        self._databases = Databases(self._store, self.indexes)

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the gRPC handler of google.firestore.v1.Firestore, for a grpc.aio server that may have others.

        It may be taken more than once, for servers on several ports; all of them share one state.
        """
        return handler(self._store, self._databases)

    async def start(self) -> None:
        """Open the file, if there is one; raise RuntimeError when another process has it open."""
        if self._path is not None:
            self._store.open(self._path)

    async def close(self) -> None:
        self._store.close()

    async def expire(self) -> int:
        """Delete the documents whose time has passed by the policies of the file of indexes; how many went."""
        return 0 if self.indexes is None else await expire(self._store, self._databases, self.indexes.expiring)

    def last_commit(self) -> list[DocumentChange]:
        """Return the changes of the last commit in the file, in its order: a death may have kept them from the listeners."""
        return self._store.last_commit()

    def watch(self, listener: Callable[[DocumentChange], None]) -> None:
        """Call the listener for each changed document, synchronously after each commit and in commit order.

        The listener must not raise and must not write.
        """
        watched: Listener = listener
        self._store.listeners.append(watched)
