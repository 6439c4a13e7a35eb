"""Credentials of MCP servers: stored as a task's are, in a place of their own."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.stale import StaleError

from .conftest import Stores
from .test_connections import begun
from .values import NOW, TASK, build_sealed

SERVER = "mcp_1"


def build_of_server(version: int = 1, name: str = "API_KEY") -> SealedCredential:
    return build_sealed(version, name=name, task=SERVER)


async def test_a_value_comes_back_with_its_version(stores: Stores) -> None:
    await stores.place_server(SERVER)
    await stores.server_credentials.put(build_of_server())
    assert list(await stores.server_credentials.list(SERVER)) == [build_of_server()]
    assert await stores.server_credentials.read_versions(SERVER) == {"API_KEY": 1}


async def test_a_replaced_value_is_a_former_one(stores: Stores) -> None:
    await stores.place_server(SERVER)
    await stores.server_credentials.put(build_of_server())
    await stores.server_credentials.put(build_of_server(2))
    live, former = await stores.server_credentials.read_all(SERVER)
    assert [sealed.label.version for sealed in live] == [2]
    assert [value.sealed.label.version for stored in former for value in stored.values] == [1]


async def test_nothing_is_stored_for_a_server_that_is_not_there(stores: Stores) -> None:
    with pytest.raises(StaleError):
        await stores.server_credentials.put(build_of_server())


async def test_a_task_of_the_same_id_has_none_of_it(stores: Stores) -> None:
    await stores.place_server(SERVER)
    await stores.server_credentials.put(build_of_server())
    assert not await stores.credentials.list(SERVER)
    assert await stores.credentials.read_versions(SERVER) == {}


async def test_a_server_of_the_id_of_a_task_has_nothing_of_the_task(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(build_sealed())
    assert not await stores.server_credentials.list(TASK.id)


async def test_the_message_of_the_bound_names_the_server(stores: Stores) -> None:
    await stores.place_server(SERVER)
    await stores.server_credentials.put(build_of_server(), most=1)
    with pytest.raises(LimitReachedError, match="an MCP server may have at most 1 credentials"):
        await stores.server_credentials.put(build_of_server(name="OTHER"), most=1)


async def test_a_deleted_value_has_a_later_version(stores: Stores) -> None:
    await stores.place_server(SERVER)
    await stores.server_credentials.put(build_of_server())
    assert await stores.server_credentials.delete(SERVER, "API_KEY", now=NOW)
    assert await stores.server_credentials.read_versions(SERVER) == {"API_KEY": 2}


async def test_a_value_is_swapped_for_a_renewed_one(stores: Stores) -> None:
    await stores.place_server(SERVER)
    await stores.server_credentials.put(build_of_server())
    renewed = replace(build_of_server(2), ciphertext=b"renewed", updated_at=NOW + timedelta(seconds=1))
    assert await stores.server_credentials.swap(build_of_server(), renewed)
    assert not await stores.server_credentials.swap(build_of_server(), renewed)
    assert [sealed.ciphertext for sealed in await stores.server_credentials.list(SERVER)] == [b"renewed"]


async def test_a_consent_is_taken_from_its_server_alone(stores: Stores) -> None:
    await stores.place_server(SERVER)
    connection = replace(begun(), label=replace(begun().label, task=SERVER))
    await stores.server_connections.put(connection, now=NOW, most=1)
    assert await stores.connections.take(SERVER, connection.digest) is None
    assert await stores.server_connections.take(SERVER, connection.digest) == connection
    assert await stores.server_connections.take(SERVER, connection.digest) is None
