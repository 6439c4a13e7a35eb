"""Clients of others at /mcp of a stack: the Python SDK's, of both eras, and the Inspector's command line.

They are in environments of their own, which `make mcp-conformance` makes; without them the journeys are skipped.
"""

from __future__ import annotations

import pytest

from tests.campaigns.mcp.clients import ask_by_inspector, visit_by_sdk
from tests.campaigns.mcp.installing import install_inspector
from tests.campaigns.mcp.test_clients import needs_inspector, needs_sdk
from tests.journeys.conftest import Journey
from tests.journeys.test_mcp import set_chat_task

HOST = "api.coingecko.com"


@pytest.fixture
async def journey(journey: Journey) -> Journey:
    """A journey whose agent may read one host."""
    await journey.serve(HOST, json={"price": 42})
    await set_chat_task(journey, tools=["http_get"], integrations=["coingecko"])
    return journey


@needs_sdk
@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_the_client_of_the_sdk_lists_and_calls_an_agents_tools(
    journey: Journey, key: str, mode: str, version: str
) -> None:
    calls = [["http_get", {"url": journey.url(HOST)}], ["list_tasks", {}], ["no_such_tool", {}]]
    seen = await visit_by_sdk(f"{journey.stack['url']}/mcp", mode, token=key, calls=calls)
    assert seen["version"] == version
    assert {"http_get", "run_task", "ask_agent", "get_execution"} <= set(seen["tools"])
    assert '"price": 42' in seen["results"]["http_get"]["text"]
    assert seen["results"]["list_tasks"]["is_error"] is False
    assert seen["results"]["no_such_tool"] == {"code": -32602}


@needs_sdk
async def test_the_client_of_the_sdk_is_refused_without_a_key(journey: Journey) -> None:
    with pytest.raises(RuntimeError, match="MCPError: Server returned an error response"):
        await visit_by_sdk(f"{journey.stack['url']}/mcp", "2026-07-28", token="frk_nobody", calls=[])


@needs_inspector
async def test_the_inspector_lists_and_calls_an_agents_tools(journey: Journey, key: str) -> None:
    inspector, url = install_inspector(), f"{journey.stack['url']}/mcp"
    header = ("--header", f"Authorization: Bearer {key}")
    listed = await ask_by_inspector(inspector, url, *header, "--method", "tools/list")
    assert {"http_get", "run_task"} <= {tool["name"] for tool in listed["tools"]}
    call = ("--method", "tools/call", "--tool-name", "http_get", "--tool-arg", f"url={journey.url(HOST)}")
    called = await ask_by_inspector(inspector, url, *header, *call)
    assert '"price": 42' in called["content"][0]["text"]
