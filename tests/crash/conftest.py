"""What the tests of deaths share: the store's ports, in memory and on Google's client with the local Firestore behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import grpc
import pytest

from emulator.firestore import SERVER_OPTIONS, Firestore
from ferryman.gcp.clients import Clients
from ferryman.local.memory import Memory
from tests.crash import folk
from tests.crash.ground import Ports
from tests.crash.liar import Liar
from tests.crash.scene import INDEXES
from tests.crash.simulated import memory_ports


@dataclass
class Cloud:
    """A Firestore behind a liar who says nothing until told; every house is a project of its own."""

    address: str
    liar: Liar
    opened: list[Clients] = field(default_factory=list)

    def ports(self) -> Ports:
        self.opened.append(folk.clients_of(f"p-{len(self.opened)}", self.address))
        return folk.cloud_ports(self.opened[-1])


@pytest.fixture
async def cloud(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cloud]:
    liar, firestore = Liar(), Firestore(path=None, indexes=INDEXES)
    server = grpc.aio.server(interceptors=[liar], options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
    server.add_generic_rpc_handlers((firestore.handler(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", address)  # which the clients set, and which is not to stay
    await firestore.start()
    await server.start()
    cloud = Cloud(address, liar)
    yield cloud
    for clients in cloud.opened:
        await clients.close()
    await server.stop(0)
    await firestore.close()


@pytest.fixture(params=["local", "gcp"])
def house(request: pytest.FixtureRequest) -> tuple[Callable[[], Ports], int]:
    """Makes the ports of an empty house; and of how many points a test may leave out all but one, where each takes long."""
    if request.param == "local":
        return lambda: memory_ports(Memory()), 1
    cloud: Cloud = request.getfixturevalue("cloud")
    return cloud.ports, 7
