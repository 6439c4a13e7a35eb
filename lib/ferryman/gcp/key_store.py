"""The key store: all versions of one key in Secret Manager, as its operator has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ferryman.domain.credentials.keys import KeyVersion
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.secret_manager import SecretManagerClient

DESTROYED = "DESTROYED"


@translate_errors
class SecretManagerKeyStore:
    """The versions of one secret, which exists."""

    def __init__(self, clients: SecretManagerClient, project: str, secret: str) -> None:
        self._clients = clients
        self._name = f"projects/{project}/secrets/{secret}"

    async def list_versions(self) -> Sequence[KeyVersion]:
        listed = await self._clients.secrets().list_secret_versions(request={"parent": self._name})
        return [_read_version(version) async for version in listed if version.state.name != DESTROYED]

    async def private(self, version: int) -> bytes:
        answer = await self._clients.secrets().access_secret_version(request={"name": self._at(version)})
        return answer.payload.data

    async def add(self, private: bytes) -> int:
        request = {"parent": self._name, "payload": {"data": private}}
        added = await self._clients.secrets().add_secret_version(request=request)
        return int(added.name.rpartition("/")[2])

    async def enable(self, version: int) -> None:
        await self._clients.secrets().enable_secret_version(request={"name": self._at(version)})

    async def disable(self, version: int) -> None:
        await self._clients.secrets().disable_secret_version(request={"name": self._at(version)})

    def _at(self, version: int) -> str:
        return f"{self._name}/versions/{version}"


def _read_version(version: Any) -> KeyVersion:
    number = int(version.name.rpartition("/")[2])
    return KeyVersion(number=number, enabled=version.state.name == "ENABLED", created_at=version.create_time)
