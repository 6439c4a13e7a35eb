"""MCP servers in an archive: they are told without their values, and nothing of them is accepted where they are imported."""

from __future__ import annotations

import httpx

from ferryman.inmemory.credentials import MCP_SERVERS
from tests.canaries import canary

from .conftest import Stage
from .importing import import_archive, read_values, take_apart

VALUE = canary.create_key("serving, an exported MCP server", 24, before="bk_")
URL = "https://books.example.com/mcp"
SEARCH = {"name": "search", "description": "Find books.", "inputSchema": {"type": "object"}}


async def export(client: httpx.AsyncClient, stage: Stage) -> bytes:
    """Return a workspace of ann's, whose default agent has an MCP server with an accepted tool."""
    stage.server_lister.tools[URL] = [SEARCH]
    workspace = (await client.post("/v1/workspaces", json={"name": "Kitchen"})).json()["workspace_id"]
    client.headers["Ferryman-Workspace"] = workspace
    (agent,) = (await client.get("/v1/agents")).json()["agents"]
    place = f"/v1/agents/{agent['agent_id']}/mcp"
    server = (await client.post(place, json={"name": "books", "url": URL, "headers": {"X-Api-Key": VALUE}})).json()["server_id"]
    (tool,) = (await client.get(f"{place}/{server}/tools")).json()["data"]
    accepted = await client.post(f"{place}/{server}/accept", json={"digests": {"search": tool["digest"]}})
    assert accepted.json()["tools"]["accepted"] == 1
    del client.headers["Ferryman-Workspace"]
    return (await client.get(f"/v1/workspaces/{workspace}/export")).content


async def test_an_archive_tells_of_a_server_without_its_values(client: httpx.AsyncClient, stage: Stage) -> None:
    files = take_apart(await export(client, stage))[1]
    (agent,) = read_values(files, "agents")
    (server,) = agent["mcp_servers"]
    assert (server["name"], server["url"], server["headers"]) == ("books", URL, {"X-Api-Key": "X_API_KEY"})
    assert [*server["accepted"]] == ["search"]
    assert VALUE.encode() not in b"".join(files.values())


async def test_an_imported_server_is_disabled_and_nothing_of_it_is_accepted(client: httpx.AsyncClient, stage: Stage) -> None:
    archive = await export(client, stage)
    client.headers.update(stage.owner("bob"))
    workspace = await import_archive(client, archive)
    (server,) = [server for server in stage.memory.mcp_servers.values() if server.workspace == workspace]
    assert (server.owner, server.name, server.url, server.enabled, server.pins) == ("bob", "books", URL, False, ())
    assert f"{MCP_SERVERS}/{server.id}" not in stage.memory.credentials
