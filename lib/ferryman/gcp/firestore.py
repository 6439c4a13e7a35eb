"""Firestore: the client of one process, made at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.gcp.channels import connect_client
from ferryman.settings import Settings

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient


class FirestoreClient:
    """Whoever reads and writes documents is given this."""

    def __init__(self, settings: Settings) -> None:
        self._project = settings.project
        self._host = settings.firestore_host
        self._token = settings.firestore_token
        self._firestore: AsyncClient | None = None

    def firestore(self) -> AsyncClient:
        """The client."""
        if self._firestore is None:
            from google.cloud.firestore import AsyncClient

            self._firestore = AsyncClient(project=self._project) if self._host is None else self._local()
        return self._firestore

    def _local(self) -> AsyncClient:
        from google.auth.credentials import AnonymousCredentials
        from google.cloud.firestore import AsyncClient
        from google.cloud.firestore_v1.services.firestore import FirestoreAsyncClient

        nobody: Any = AnonymousCredentials  # the library has no types here
        made: Any = AsyncClient(project=self._project, credentials=nobody())
        # by itself it knows of an emulator, from a variable, and of no token
        made._firestore_api_internal = connect_client(FirestoreAsyncClient, self._host, self._token)
        local: AsyncClient = made
        return local

    async def close(self) -> None:
        """Close it if it was opened."""
        if self._firestore is not None:
            opened: Any = self._firestore
            closing = opened.close()
            if closing is not None:
                await closing
