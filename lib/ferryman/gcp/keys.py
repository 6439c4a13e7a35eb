"""The sealing keys in Secret Manager, each version kept in memory for a while."""

from __future__ import annotations

import time

from ferryman.gcp.clients import Clients
from ferryman.ports import Unavailable
from ferryman.settings import Settings


class SecretManagerKeys:
    """`ports.Keys`. A version is named, never `latest`: what was sealed says which one opens it."""

    def __init__(self, clients: Clients, settings: Settings) -> None:
        self._clients = clients
        self._settings = settings
        self._cache: dict[int, tuple[float, bytes]] = {}

    async def private(self, version: int) -> bytes:
        from google.api_core import exceptions

        kept = self._cache.get(version)
        if kept is not None and time.monotonic() - kept[0] < self._settings.keys_ttl_s:
            return kept[1]
        name = f"projects/{self._settings.project}/secrets/{self._settings.sealing_key_secret}/versions/{version}"
        try:
            answer = await self._clients.secrets().access_secret_version(name=name)
        except (exceptions.NotFound, exceptions.FailedPrecondition) as error:
            raise KeyError(version) from error
        except exceptions.GoogleAPICallError as error:
            raise Unavailable("Secret Manager did not answer") from error
        self._cache[version] = (time.monotonic(), answer.payload.data)
        return answer.payload.data
