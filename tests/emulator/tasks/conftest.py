"""Cloud Tasks on a still clock, Google's own client for it, and a worker."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest
from google.cloud.tasks_v2 import CloudTasksAsyncClient
from google.cloud.tasks_v2.services.cloud_tasks.transports import CloudTasksGrpcAsyncIOTransport
from google.cloud.tasks_v2.types import Queue

from emulator.clock import EmulatorClock
from emulator.identity import IdentityTokens
from emulator.tasks import CloudTasksEmulator
from tests.emulator.tasks.worker import Worker, serving

PARENT = "projects/test/locations/here"
QUEUE = f"{PARENT}/queues/work"
START = datetime(2026, 1, 1, tzinfo=UTC)


class Place:
    """Cloud Tasks that can be closed and opened again on the same files."""

    def __init__(self, path: Path, tokens: IdentityTokens) -> None:
        self.path = path
        self.tokens = tokens
        self.clock = EmulatorClock(START)

    async def open(self) -> CloudTasksAsyncClient:
        self.service = CloudTasksEmulator(path=self.path, clock=self.clock, tokens=self.tokens)
        self.server = grpc.aio.server()
        self.server.add_generic_rpc_handlers((self.service.handler(),))
        port = self.server.add_insecure_port("127.0.0.1:0")
        await self.service.start()
        await self.server.start()
        self.channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
        return CloudTasksAsyncClient(transport=CloudTasksGrpcAsyncIOTransport(channel=self.channel))

    async def close(self) -> None:
        await self.channel.close()
        await self.server.stop(None)
        await self.service.close()

    async def reopen(self) -> CloudTasksAsyncClient:
        await self.close()
        return await self.open()


@pytest.fixture(scope="session")
def tokens() -> IdentityTokens:
    return IdentityTokens(path=None, clock=EmulatorClock())


@pytest.fixture
async def worker() -> Worker:
    return Worker()


@pytest.fixture
async def url(worker: Worker) -> AsyncIterator[str]:
    async with serving(worker) as root:
        yield f"{root}/run?a=1"


@pytest.fixture
async def place(tmp_path: Path, tokens: IdentityTokens) -> AsyncIterator[Place]:
    place = Place(tmp_path / "data", tokens)
    yield place
    await place.close()


@pytest.fixture
async def clock(place: Place) -> EmulatorClock:
    return place.clock


@pytest.fixture
async def tasks(place: Place) -> CloudTasksAsyncClient:
    return await place.open()


@pytest.fixture
async def queue(tasks: CloudTasksAsyncClient) -> Queue:
    return await tasks.create_queue(parent=PARENT, queue={"name": QUEUE})
