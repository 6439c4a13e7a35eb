"""Cloud Tasks: the client of one process, made at its first use."""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

from ferryman.gcp.channels import connect_client, wait_for_connection
from ferryman.settings import Settings

if TYPE_CHECKING:
    from google.cloud.tasks_v2 import CloudTasksAsyncClient


class CloudTasksClient:
    """The client of a process that enqueues something."""

    def __init__(self, settings: Settings) -> None:
        self._tasks_host = settings.cloud_tasks_host
        self._tasks_token = settings.local_token
        self._tasks: CloudTasksAsyncClient | None = None

    def tasks(self) -> CloudTasksAsyncClient:
        """Return the client."""
        if self._tasks is None:
            from google.cloud import tasks_v2

            self._tasks = connect_client(tasks_v2.CloudTasksAsyncClient, self._tasks_host, self._tasks_token)
        return self._tasks

    @staticmethod
    def load() -> None:
        """Import the library: some tens of milliseconds, which belong off the event loop."""
        importlib.import_module("google.cloud.tasks_v2")

    async def warm(self) -> None:
        """Import the library off the event loop, and connect, before a first request waits for both."""
        await asyncio.to_thread(CloudTasksClient.load)
        await wait_for_connection(self.tasks())

    async def close(self) -> None:
        """Close the client if there is one."""
        if self._tasks is not None:
            transport: Any = self._tasks.transport
            await transport.close()
