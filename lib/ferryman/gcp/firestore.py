"""Firestore: the client of one process, made at its first use."""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

from ferryman.gcp import documents
from ferryman.gcp.channels import connect_client
from ferryman.settings import Settings

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient

NOWHERE = "executions/none"
"""A document that is not there: reading it connects, and prepares what every read needs."""


class FirestoreClient:
    """The client of a process that reads and writes documents."""

    def __init__(self, settings: Settings) -> None:
        self._project = settings.project
        self._host = settings.firestore_host
        self._token = settings.firestore_token
        self._firestore: AsyncClient | None = None

    def firestore(self) -> AsyncClient:
        """Return the client."""
        if self._firestore is None:
            from google.cloud.firestore import AsyncClient

            self._firestore = AsyncClient(project=self._project) if self._host is None else self._local()
        return self._firestore

    def _local(self) -> AsyncClient:
        from google.auth.credentials import AnonymousCredentials
        from google.cloud.firestore import AsyncClient
        from google.cloud.firestore_v1.services.firestore import FirestoreAsyncClient

        anonymous: Any = AnonymousCredentials  # the library has no types here
        client: Any = AsyncClient(project=self._project, credentials=anonymous())
        # the library itself supports an emulator, named by a variable, but no token
        client._firestore_api_internal = connect_client(FirestoreAsyncClient, self._host, self._token)
        local: AsyncClient = client
        return local

    @staticmethod
    def load() -> None:
        """Import the library: some hundred milliseconds, which belong off the event loop."""
        importlib.import_module("google.cloud.firestore")

    async def warm(self) -> None:
        """Import the library off the event loop, compile what writes and reads the documents of an execution, and connect,
        before a first request waits for them."""
        await asyncio.to_thread(FirestoreClient.load)
        await asyncio.to_thread(documents.prepare)
        await self.firestore().document(NOWHERE).get()

    async def close(self) -> None:
        """Close the client if there is one."""
        if self._firestore is not None:
            opened: Any = self._firestore
            closing = opened.close()
            if closing is not None:
                await closing
