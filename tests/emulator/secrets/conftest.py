"""A Secret Manager on a still clock, and Google's own client for it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest
from google.cloud.secretmanager_v1 import Replication, Secret, SecretManagerServiceAsyncClient
from google.cloud.secretmanager_v1.services.secret_manager_service.transports import (
    SecretManagerServiceGrpcAsyncIOTransport,
)

from emulator.clock import EmulatorClock
from emulator.secrets import SecretManagerEmulator

PROJECT = "projects/test"


class Place:
    """A Secret Manager that can be closed and opened again on the same files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = EmulatorClock(datetime(2026, 1, 1, tzinfo=UTC))

    async def open(self) -> SecretManagerServiceAsyncClient:
        self.manager = SecretManagerEmulator(path=self.path, clock=self.clock)
        self.server = grpc.aio.server()
        self.server.add_generic_rpc_handlers((self.manager.handler(),))
        port = self.server.add_insecure_port("127.0.0.1:0")
        await self.manager.start()
        await self.server.start()
        self.channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
        return SecretManagerServiceAsyncClient(transport=SecretManagerServiceGrpcAsyncIOTransport(channel=self.channel))

    async def close(self) -> None:
        await self.channel.close()
        await self.server.stop(None)
        await self.manager.close()

    async def reopen(self) -> SecretManagerServiceAsyncClient:
        await self.close()
        return await self.open()


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    place = Place(tmp_path / "data")
    yield place
    await place.close()


@pytest.fixture
async def secrets(place: Place) -> SecretManagerServiceAsyncClient:
    return await place.open()


@pytest.fixture
async def secret(secrets: SecretManagerServiceAsyncClient) -> Secret:
    template = Secret(replication=Replication(automatic=Replication.Automatic()), labels={"use": "test"})
    return await secrets.create_secret(parent=PROJECT, secret_id="keys", secret=template)
