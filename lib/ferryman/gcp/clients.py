"""Google's clients in one class, for processes that use all of them; a function that needs fewer gets fewer."""

from __future__ import annotations

from ferryman.gcp.cloud_tasks import CloudTasksClient
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.secret_manager import SecretManagerClient
from ferryman.settings import Settings


class GoogleClients(FirestoreClient, SecretManagerClient, CloudTasksClient):
    """The clients of one process. Each import waits for its first use: each costs a cold start 0.2 to 0.5 s.

    Each has a file of its own, since an archive holds what its function's imports lead to (infra/imports.py).
    """

    def __init__(self, settings: Settings) -> None:
        FirestoreClient.__init__(self, settings)
        SecretManagerClient.__init__(self, settings)
        CloudTasksClient.__init__(self, settings)

    @staticmethod
    def load() -> None:
        """Import the libraries."""
        FirestoreClient.load()
        SecretManagerClient.load()
        CloudTasksClient.load()

    async def warm(self) -> None:
        """Import the libraries and connect: one after the other, since imports of one process wait for each other anyway."""
        await FirestoreClient.warm(self)
        await SecretManagerClient.warm(self)
        await CloudTasksClient.warm(self)

    async def close(self) -> None:
        """Close what was opened."""
        await FirestoreClient.close(self)
        await SecretManagerClient.close(self)
        await CloudTasksClient.close(self)
