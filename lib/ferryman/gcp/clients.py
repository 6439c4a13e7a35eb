"""Clients: all of Google's own in one, for who uses all of them; a function that needs fewer is given fewer."""

from __future__ import annotations

from ferryman.gcp.cloud_tasks import CloudTasks
from ferryman.gcp.firestore import Firestore
from ferryman.gcp.secret_manager import SecretManager
from ferryman.settings import Settings


class Clients(Firestore, SecretManager, CloudTasks):
    """The clients of one process. Each import waits for its first use: they cost a cold start 0.2 to 0.5 s apiece.

    They stand in files of their own, since an archive holds what its function's imports lead to (infra/imports.py).
    """

    def __init__(self, settings: Settings) -> None:
        Firestore.__init__(self, settings)
        SecretManager.__init__(self, settings)
        CloudTasks.__init__(self, settings)

    async def close(self) -> None:
        """Close what was opened."""
        await Firestore.close(self)
        await SecretManager.close(self)
        await CloudTasks.close(self)
