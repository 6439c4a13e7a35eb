"""The keys of signed requests in Secret Manager: the newest version, and the one before while that is enabled."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from ferryman.gcp.secret_manager import SecretManagerClient
from ferryman.ports.errors import UnavailableError
from ferryman.settings import Settings

RENEWED_S = 5.0
"""How often at most the keys are read again because a request was signed with none of them."""


class SecretManagerRequestKeys:
    """`ports.RequestKeys`. What is read is used for `keys_ttl_s` seconds: so long a version that was disabled is still good.

    Two versions are valid, so that a signer and a verifier may learn of a new one at different times.
    """

    def __init__(
        self, clients: SecretManagerClient, settings: Settings, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._clients = clients
        self._name = f"projects/{settings.project}/secrets/{settings.platform_key_secret}/versions"
        self._life_s = settings.keys_ttl_s
        self._monotonic = monotonic
        self._reading = asyncio.Lock()
        self._keys: tuple[bytes, ...] = ()
        self._read_at = float("-inf")

    async def signing(self) -> bytes:
        return (await self.valid())[0]

    async def valid(self) -> Sequence[bytes]:
        """Return the keys, the newest first."""
        async with self._reading:
            if self._monotonic() - self._read_at >= self._life_s:
                await self._read()
            return self._keys

    async def renewed(self) -> Sequence[bytes]:
        async with self._reading:
            before = self._keys
            if self._monotonic() - self._read_at < RENEWED_S:
                return ()
            await self._read()
            return () if self._keys == before else self._keys

    async def _read(self) -> None:
        newest = await self._access("latest")
        if newest is None:
            raise UnavailableError("the key of the platform has no version that is enabled")
        number, key = newest
        before = await self._access(str(number - 1)) if number > 1 else None
        self._keys = (key,) if before is None else (key, before[1])
        self._read_at = self._monotonic()

    async def _access(self, version: str) -> tuple[int, bytes] | None:
        """Return a version's number and bytes; None where it is not there or not enabled. Raise `UnavailableError`."""
        from google.api_core import exceptions

        try:
            answer = await self._clients.secrets().access_secret_version(name=f"{self._name}/{version}")
        except (exceptions.NotFound, exceptions.FailedPrecondition):
            return None
        except exceptions.GoogleAPICallError as error:
            raise UnavailableError("Secret Manager did not answer") from error
        return int(answer.name.rpartition("/")[2]), bytes(answer.payload.data)
