"""MCP servers of agents: stored as they were put, in their place alone, with the descriptors that their pins name."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.changes import change_value
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.remote_servers.authorization import ServerAuthorization
from ferryman.domain.remote_servers.descriptor import digest_text
from ferryman.domain.remote_servers.pin import PinState, ToolPin
from ferryman.domain.remote_servers.server import RemoteServer, ServerAuth, ServerInfo, ServerState
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.agent import AgentGoneError
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.domain.workspaces.workspace import WorkspaceGoneError

from .conftest import Stores
from .values import NOW, build_sealed, open_workspaces

PLACE = {"owner": "ann", "workspace": "ws_1"}
AGENT = derive_default_agent("ws_1")
TEXTS = {digest_text(text): text for text in ('{"name":"a"}', '{"name":"b"}')}
FIRST, SECOND = TEXTS
PINS = (
    ToolPin(tool="a.b", name="books__a_b_123456", state=PinState.ACCEPTED, digest=FIRST, accepted_at=NOW),
    ToolPin(tool="b", name="books__b", state=PinState.REFUSED, pending=SECOND, reason="looks like a", disabled=True),
)
SERVER = RemoteServer(
    id="mcp_1",
    **PLACE,
    agent=AGENT,
    name="books",
    url="https://tools.example.com/mcp",
    auth=ServerAuth.HEADERS,
    headers={"X-Api-Key": "BOOKS_KEY"},
    authorization=ServerAuthorization(
        issuer="https://as.example.com",
        authorize_url="https://as.example.com/authorize",
        token_url="https://as.example.com/token",
        resource="https://tools.example.com/mcp",
        client_id="https://api.example.com/client",
        scopes=("read",),
    ),
    created_at=NOW,
    updated_at=NOW,
)
LISTED = replace(
    SERVER,
    pins=PINS,
    info=ServerInfo(name="Bücher", version="1"),
    instructions="Be kind.",
    revision="2026-07-28",
    state=ServerState.LISTED,
    listed_at=NOW,
    verified_at=NOW + timedelta(seconds=1),
)


@pytest.fixture
async def stores(stores: Stores) -> Stores:
    await open_workspaces(stores, "ws_1", "ws_2")
    return stores


async def test_a_server_comes_back_as_it_was_put(stores: Stores) -> None:
    assert await stores.remote_servers.get(SERVER.id) is None
    await stores.remote_servers.create(SERVER)
    await stores.remote_servers.create(SERVER)
    assert await stores.remote_servers.get(SERVER.id) == SERVER
    assert await stores.remote_servers.find(AGENT, "books", **PLACE) == SERVER


async def test_servers_are_listed_by_name_in_their_place_alone(stores: Stores) -> None:
    other = replace(SERVER, id="mcp_2", name="art")
    for server in (SERVER, other):
        await stores.remote_servers.create(server)
    assert list(await stores.remote_servers.list(AGENT, **PLACE)) == [other, SERVER]
    for place in ({"owner": "bob", "workspace": "ws_1"}, {"owner": "ann", "workspace": "ws_2"}):
        assert list(await stores.remote_servers.list(AGENT, **place)) == []
        assert await stores.remote_servers.find(AGENT, "books", **place) is None
    assert list(await stores.remote_servers.list("agent_2", **PLACE)) == []


@pytest.mark.parametrize("name", ["books", "b0oks", "b-o-o-k-s"])
async def test_no_two_servers_of_an_agent_have_names_that_look_alike(stores: Stores, name: str) -> None:
    await stores.remote_servers.create(SERVER)
    with pytest.raises(InvalidInputError, match="books"):
        await stores.remote_servers.create(replace(SERVER, id="mcp_2", name=name))
    assert await stores.remote_servers.get("mcp_2") is None


async def test_an_agent_has_so_many_servers(stores: Stores) -> None:
    await stores.remote_servers.create(SERVER, most=1)
    with pytest.raises(LimitReachedError, match="at most 1 MCP servers"):
        await stores.remote_servers.create(replace(SERVER, id="mcp_2", name="art"), most=1)


async def test_a_server_needs_its_agent_and_its_workspace(stores: Stores) -> None:
    with pytest.raises(AgentGoneError):
        await stores.remote_servers.create(replace(SERVER, agent="agent_9"))
    with pytest.raises(WorkspaceGoneError):
        await stores.remote_servers.create(replace(SERVER, workspace="ws_9"))


async def test_a_change_raises_the_generation_and_needs_the_last_one(stores: Stores) -> None:
    await stores.remote_servers.create(SERVER)
    changed = change_value(SERVER, {"enabled": False}, now=NOW)
    stored = await stores.remote_servers.update(changed, ["enabled"], since=1)
    assert stored == replace(changed, generation=2)
    assert await stores.remote_servers.get(SERVER.id) == stored
    with pytest.raises(StaleError):
        await stores.remote_servers.update(changed, ["enabled"], since=1)


async def test_a_listing_is_stored_with_its_texts_and_replaces_the_last_one(stores: Stores) -> None:
    await stores.remote_servers.create(SERVER)
    stored = await stores.remote_servers.put_listing(LISTED, TEXTS, since=1)
    assert stored == replace(LISTED, generation=2) == await stores.remote_servers.get(SERVER.id)
    assert await stores.remote_servers.descriptors(SERVER.id, [*TEXTS, "0"]) == TEXTS
    text = '{"name":"c"}'
    await stores.remote_servers.put_listing(replace(stored, pins=()), {digest_text(text): text}, since=2)
    assert await stores.remote_servers.descriptors(SERVER.id, [*TEXTS, digest_text(text)]) == {digest_text(text): text}


async def test_a_listing_of_a_server_that_was_changed_stores_nothing(stores: Stores) -> None:
    await stores.remote_servers.create(SERVER)
    await stores.remote_servers.put_listing(LISTED, TEXTS, since=1)
    with pytest.raises(StaleError):
        await stores.remote_servers.put_listing(replace(LISTED, pins=()), {}, since=1)
    assert await stores.remote_servers.descriptors(SERVER.id, [*TEXTS]) == TEXTS


async def test_texts_of_some_megabytes_are_stored(stores: Stores) -> None:
    await stores.remote_servers.create(SERVER)
    texts = {f"{number:064x}": "x" * 300_000 for number in range(7)}
    await stores.remote_servers.put_listing(LISTED, texts, since=1)
    assert await stores.remote_servers.descriptors(SERVER.id, [*texts]) == texts
    assert await stores.remote_servers.descriptors(SERVER.id, [f"{6:064x}"]) == {f"{6:064x}": "x" * 300_000}


async def test_two_listings_at_once_leave_one_of_them_whole(stores: Stores) -> None:
    await stores.remote_servers.create(SERVER)
    listings = [{f"{number}": "x"} for number in range(4)]
    attempts = (stores.remote_servers.put_listing(LISTED, texts, since=1) for texts in listings)
    outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    stored = [texts for texts, outcome in zip(listings, outcomes, strict=True) if isinstance(outcome, RemoteServer)]
    assert len(stored) == 1
    assert await stores.remote_servers.descriptors(SERVER.id, ["0", "1", "2", "3"]) == stored[0]


async def test_a_deleted_server_leaves_nothing(stores: Stores) -> None:
    await stores.remote_servers.create(SERVER)
    await stores.remote_servers.put_listing(LISTED, TEXTS, since=1)
    assert await stores.remote_servers.delete(SERVER.id) is True
    assert await stores.remote_servers.get(SERVER.id) is None
    assert await stores.remote_servers.delete(SERVER.id) is False
    with pytest.raises(StaleError):
        await stores.remote_servers.put_listing(LISTED, TEXTS, since=2)
    assert await stores.remote_servers.descriptors(SERVER.id, [*TEXTS]) == {}


async def test_a_deleted_server_leaves_no_credential(stores: Stores) -> None:
    await stores.remote_servers.create(SERVER)
    await stores.server_credentials.put(build_sealed(1, name="BOOKS_KEY", task=SERVER.id))
    await stores.remote_servers.delete(SERVER.id)
    assert not await stores.server_credentials.list(SERVER.id)


async def test_a_change_of_a_server_leaves_the_versions_of_its_credentials(stores: Stores) -> None:
    await stores.remote_servers.create(SERVER)
    await stores.server_credentials.put(build_sealed(1, name="BOOKS_KEY", task=SERVER.id))
    await stores.remote_servers.put_listing(LISTED, TEXTS, since=1)
    assert await stores.server_credentials.read_versions(SERVER.id) == {"BOOKS_KEY": 1}


async def test_the_versions_of_an_agents_servers_are_listed_by_server(stores: Stores) -> None:
    await stores.remote_servers.create(SERVER)
    await stores.remote_servers.create(replace(SERVER, id="mcp_2", name="art"))
    await stores.server_credentials.put(build_sealed(1, name="BOOKS_KEY", task=SERVER.id))
    assert await stores.remote_servers.list_versions(AGENT, **PLACE) == {"mcp_1": {"BOOKS_KEY": 1}, "mcp_2": {}}
    assert await stores.remote_servers.list_versions("agent_2", **PLACE) == {}
