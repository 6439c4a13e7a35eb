"""Secrets in Secret Manager: the versions of one secret, each cached in memory for a while."""

from __future__ import annotations

from ferryman.expiring import ExpiringCache
from ferryman.gcp.secret_manager import SecretManagerClient
from ferryman.ports.errors import DisabledKeyError, UnavailableError
from ferryman.settings import Settings

DESTROYED = "DESTROYED"
"""The state, in the service's own message: its access answers disabled and destroyed versions with the same code."""


VERSIONS_MAX = 16
"""Versions in memory at once; a rotation leaves two in use."""


class SecretManagerVersions:
    """`ports.PrivateKeys`: the versions of one secret, by number, never `latest`."""

    def __init__(self, clients: SecretManagerClient, settings: Settings, secret: str) -> None:
        self._clients = clients
        self._name = f"projects/{settings.project}/secrets/{secret}/versions"
        self._cache: ExpiringCache[int, bytes] = ExpiringCache(most=VERSIONS_MAX, life_s=settings.keys_ttl_s)

    async def private(self, version: int) -> bytes:
        """Return the bytes of `version`. Raise `UnavailableError`, `DisabledKeyError`, or KeyError for an unknown version."""
        from google.api_core import exceptions

        cached = self._cache.get(version)
        if cached is not None:
            return cached
        try:
            answer = await self._clients.secrets().access_secret_version(name=f"{self._name}/{version}")
        except exceptions.NotFound as error:
            raise KeyError(version) from error
        except exceptions.FailedPrecondition as error:
            if DESTROYED in str(error):
                raise KeyError(version) from error
            # a rotation that finds something sealed to it enables it again
            raise DisabledKeyError(f"version {version} of the key is disabled") from error
        except exceptions.GoogleAPICallError as error:
            raise UnavailableError("Secret Manager did not answer") from error
        self._cache.put(version, answer.payload.data)
        return answer.payload.data
