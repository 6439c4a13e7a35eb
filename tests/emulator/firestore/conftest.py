"""An emulator on a free port of this process, and the real clients of it."""

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest
from google.cloud.firestore import AsyncClient
from google.cloud.firestore_v1.services.firestore import FirestoreAsyncClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcAsyncIOTransport

from emulator.firestore import SERVER_OPTIONS, FirestoreEmulator


class Clock:
    """A clock that a test turns; between turns it goes on by a microsecond a look."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    firestore: FirestoreEmulator
    address: str


@asynccontextmanager
async def serving(
    path: Path | None = None, *, clock: Callable[[], datetime], port: int = 0, indexes: Path | None = None
) -> AsyncIterator[Served]:
    """Run an emulator that answers for as long as the block runs."""
    firestore = FirestoreEmulator(path=path, clock=clock, indexes=indexes)
    await firestore.start()
    server = grpc.aio.server(options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
    server.add_generic_rpc_handlers((firestore.handler(),))
    port = server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    try:
        yield Served(firestore=firestore, address=f"127.0.0.1:{port}")
    finally:
        await server.stop(0)
        await firestore.close()


@asynccontextmanager
async def connected(address: str, project: str | None = None) -> AsyncIterator[AsyncClient]:
    """Connect the async client of a project, a fresh one unless named."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FIRESTORE_EMULATOR_HOST", address)
        client = AsyncClient(project=project or f"p-{uuid.uuid4().hex}")
        transport = client._firestore_api.transport
    try:
        yield client
    finally:
        await transport.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def served(clock: Clock) -> AsyncIterator[Served]:
    async with serving(clock=clock) as served:
        yield served


@pytest.fixture
async def client(served: Served) -> AsyncIterator[AsyncClient]:
    async with connected(served.address) as client:
        yield client


@pytest.fixture
async def stub(served: Served) -> AsyncIterator[FirestoreAsyncClient]:
    """The wheel's low-level client, for calls that the other one does not make."""
    channel = grpc.aio.insecure_channel(served.address)
    yield FirestoreAsyncClient(transport=FirestoreGrpcAsyncIOTransport(channel=channel))
    await channel.close()
