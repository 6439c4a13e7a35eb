"""Clients: Google's own, made once per process and pointed at the local cloud where its variables are set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.settings import Settings

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient
    from google.cloud.secretmanager_v1 import SecretManagerServiceAsyncClient
    from google.cloud.tasks_v2 import CloudTasksAsyncClient


class Clients:
    """The clients of one process. Each import waits for its first use: they cost a cold start 0.2 to 0.5 s apiece."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._firestore: AsyncClient | None = None
        self._secrets: SecretManagerServiceAsyncClient | None = None
        self._tasks: CloudTasksAsyncClient | None = None

    def firestore(self) -> AsyncClient:
        """Firestore; the client itself reads FIRESTORE_EMULATOR_HOST."""
        if self._firestore is None:
            from google.cloud.firestore import AsyncClient

            self._firestore = AsyncClient(project=self._settings.project)
        return self._firestore

    def secrets(self) -> SecretManagerServiceAsyncClient:
        """Secret Manager, which has no emulator variable of its own: the channel is given."""
        if self._secrets is None:
            from google.cloud import secretmanager_v1 as secretmanager

            client = secretmanager.SecretManagerServiceAsyncClient
            host = self._settings.secret_manager_host
            if host is None:
                self._secrets = client()
            else:
                import grpc.aio

                transport = client.get_transport_class("grpc_asyncio")
                self._secrets = client(transport=transport(channel=grpc.aio.insecure_channel(host)))
        return self._secrets

    def tasks(self) -> CloudTasksAsyncClient:
        """Cloud Tasks, likewise."""
        if self._tasks is None:
            from google.cloud import tasks_v2

            client = tasks_v2.CloudTasksAsyncClient
            host = self._settings.cloud_tasks_host
            if host is None:
                self._tasks = client()
            else:
                import grpc.aio

                transport = client.get_transport_class("grpc_asyncio")
                self._tasks = client(transport=transport(channel=grpc.aio.insecure_channel(host)))
        return self._tasks

    async def close(self) -> None:
        """Close what was opened."""
        if self._firestore is not None:
            closing: Any = self._firestore
            await _closed(closing.close())
        for client in (self._secrets, self._tasks):
            if client is not None:
                transport: Any = client.transport
                await transport.close()


async def _closed(closing: Any) -> None:
    if closing is not None:
        await closing
