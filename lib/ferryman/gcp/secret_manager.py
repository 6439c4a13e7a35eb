"""Secret Manager: the client of one process, made at its first use."""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

from ferryman.gcp.channels import connect_client, wait_for_connection
from ferryman.settings import Settings

if TYPE_CHECKING:
    from google.cloud.secretmanager_v1 import SecretManagerServiceAsyncClient


class SecretManagerClient:
    """The client of a process that reads keys."""

    def __init__(self, settings: Settings) -> None:
        self._secrets_host = settings.secret_manager_host
        self._secrets_token = settings.local_token
        self._secrets: SecretManagerServiceAsyncClient | None = None

    def secrets(self) -> SecretManagerServiceAsyncClient:
        """Return the client."""
        if self._secrets is None:
            from google.cloud import secretmanager_v1 as secretmanager

            self._secrets = connect_client(
                secretmanager.SecretManagerServiceAsyncClient, self._secrets_host, self._secrets_token
            )
        return self._secrets

    @staticmethod
    def load() -> None:
        """Import the library: some tens of milliseconds, which belong off the event loop."""
        importlib.import_module("google.cloud.secretmanager_v1")

    async def warm(self) -> None:
        """Import the library off the event loop, and connect, before a first request waits for both."""
        await asyncio.to_thread(SecretManagerClient.load)
        await wait_for_connection(self.secrets())

    async def close(self) -> None:
        """Close the client if there is one."""
        if self._secrets is not None:
            transport: Any = self._secrets.transport
            await transport.close()
