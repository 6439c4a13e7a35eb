"""What the tests of deaths share: the store's ports, in memory and on Google's client with the local Firestore behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import grpc
import pytest

from emulator.firestore import SERVER_OPTIONS, FirestoreEmulator
from ferryman.gcp.clients import GoogleClients
from ferryman.inmemory.memory import Memory
from tests.campaigns.crash import workers
from tests.campaigns.crash.fault_injector import FaultInjector
from tests.campaigns.crash.fixtures import Ports
from tests.campaigns.crash.harness import INDEXES
from tests.campaigns.crash.simulated import memory_ports


@dataclass
class Cloud:
    """A Firestore behind a fault injector that is off until it is told otherwise; each test has a project of its own."""

    address: str
    injector: FaultInjector
    opened: list[GoogleClients] = field(default_factory=list)

    def ports(self) -> Ports:
        self.opened.append(workers.build_clients(f"p-{len(self.opened)}", self.address))
        return workers.build_ports(self.opened[-1])


@pytest.fixture
async def cloud() -> AsyncIterator[Cloud]:
    injector, firestore = FaultInjector(), FirestoreEmulator(path=None, indexes=INDEXES)
    server = grpc.aio.server(interceptors=[injector], options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
    server.add_generic_rpc_handlers((firestore.handler(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await firestore.start()
    await server.start()
    cloud = Cloud(address, injector)
    yield cloud
    for clients in cloud.opened:
        await clients.close()
    await server.stop(0)
    await firestore.close()


@pytest.fixture(params=["local", "gcp"])
def deps(request: pytest.FixtureRequest) -> tuple[Callable[[], Ports], int]:
    """Makes the ports of an empty store; and of how many points a test may leave out all but one, where each takes long."""
    if request.param == "local":
        return lambda: memory_ports(Memory()), 1
    cloud: Cloud = request.getfixturevalue("cloud")
    return cloud.ports, 7
