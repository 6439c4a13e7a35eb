"""Firestore: the client of one process, made at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.settings import Settings

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient


class Firestore:
    """Whoever reads and writes documents is given this."""

    def __init__(self, settings: Settings) -> None:
        self._project = settings.project
        self._firestore: AsyncClient | None = None

    def firestore(self) -> AsyncClient:
        """The client; it reads FIRESTORE_EMULATOR_HOST itself."""
        if self._firestore is None:
            from google.cloud.firestore import AsyncClient

            self._firestore = AsyncClient(project=self._project)
        return self._firestore

    async def close(self) -> None:
        """Close it if it was opened."""
        if self._firestore is not None:
            opened: Any = self._firestore
            closing = opened.close()
            if closing is not None:
                await closing
