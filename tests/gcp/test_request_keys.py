"""The keys of signed requests in Secret Manager: two versions while one is rotated, and a new one known within seconds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import grpc.aio
import pytest

from emulator.clock import EmulatorClock
from emulator.secrets import SecretManagerEmulator
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.key_store import SecretManagerKeyStore
from ferryman.gcp.request_keys import SecretManagerRequestKeys
from ferryman.ports.errors import UnavailableError
from ferryman.settings import Settings

SECRET = Settings().platform_key_secret
FIRST, SECOND, THIRD = (name * 32 for name in (b"1", b"2", b"3"))


@dataclass
class Place:
    """A Secret Manager with the secret, the keys read from it, and a clock that a test moves on."""

    clients: GoogleClients
    store: SecretManagerKeyStore
    seconds: float = 0.0
    keys: SecretManagerRequestKeys = field(init=False)

    def __post_init__(self) -> None:
        settings = Settings(project="p", keys_ttl_s=300)
        self.keys = SecretManagerRequestKeys(self.clients, settings, monotonic=lambda: self.seconds)


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    service, server = SecretManagerEmulator(path=None, clock=EmulatorClock()), grpc.aio.server()
    server.add_generic_rpc_handlers((service.handler(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    clients = GoogleClients(Settings(project="p", secret_manager_host=address))
    secret: dict[str, Any] = {"replication": {"automatic": {}}}
    await clients.secrets().create_secret(request={"parent": "projects/p", "secret_id": SECRET, "secret": secret})
    yield Place(clients, SecretManagerKeyStore(clients, "p", SECRET))
    await clients.close()
    await server.stop(None)
    await service.close()


async def test_the_newest_version_signs_and_the_one_before_is_valid_too(place: Place) -> None:
    for key in (FIRST, SECOND, THIRD):
        await place.store.add(key)
    assert await place.keys.signing() == THIRD
    assert await place.keys.valid() == (THIRD, SECOND)


async def test_a_version_that_was_disabled_is_not_valid_once_the_keys_are_read_again(place: Place) -> None:
    for key in (FIRST, SECOND):
        await place.store.add(key)
    assert await place.keys.valid() == (SECOND, FIRST)
    await place.store.disable(1)
    place.seconds = 299
    assert await place.keys.valid() == (SECOND, FIRST)
    place.seconds = 300
    assert await place.keys.valid() == (SECOND,)


async def test_a_new_version_is_read_when_it_is_asked_for_and_at_most_every_few_seconds(place: Place) -> None:
    await place.store.add(FIRST)
    assert await place.keys.valid() == (FIRST,)
    await place.store.add(SECOND)
    place.seconds = 4
    assert await place.keys.renewed() == ()
    place.seconds = 5
    assert await place.keys.renewed() == (SECOND, FIRST)
    place.seconds = 20
    assert await place.keys.renewed() == ()


async def test_without_a_version_there_is_no_key(place: Place) -> None:
    with pytest.raises(UnavailableError, match="no version that is enabled"):
        await place.keys.signing()
