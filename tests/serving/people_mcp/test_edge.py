"""Whatever is wrong with a request at /mcp is answered as JSON-RPC has it, by the app as it is served."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.serving.conftest import create_app
from tests.serving.people_mcp.stage import McpStage


@pytest.fixture
async def http(people: McpStage) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=create_app(people.deps()))
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=people.headers) as client:
        yield client


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b"nothing", 400),
        (b" " * 1_000_001, 413),
        (json.dumps([0] * 10_001).encode(), 422),
        (b"[" * 5_000, 400),
    ],
)
async def test_a_body_that_is_none(http: httpx.AsyncClient, content: bytes, status: int) -> None:
    answer = await http.post("/mcp", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert answer.json()["jsonrpc"] == "2.0"
    assert isinstance(answer.json()["error"]["code"], int)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
async def test_another_method(http: httpx.AsyncClient, method: str) -> None:
    answer = await http.request(method, "/mcp")
    assert (answer.status_code, answer.json()["jsonrpc"]) == (405, "2.0")


async def test_a_path_below_is_none(http: httpx.AsyncClient) -> None:
    assert (await http.post("/mcp/x", json={})).status_code == 404


async def test_a_fault_is_logged_by_its_place_and_told_without_it(people: McpStage, http: httpx.AsyncClient) -> None:
    people.memory.agents[people.agent.id] = object()  # type: ignore[assignment] # what no store holds
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": meta}}
    answer = await http.post("/mcp", json=message, headers={"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})
    assert (answer.status_code, answer.json()["id"], answer.json()["error"]["code"]) == (500, 7, -32603)
    assert "object" not in answer.text
    assert "mcp.crash" in [event for event, _ in people.log.lines]
