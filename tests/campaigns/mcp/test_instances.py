"""Any instance answers any request: one is killed between two requests of one exchange, and another goes on."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from ferryman.domain.mcp_revisions import CLIENT_CAPABILITIES, CLIENT_INFO, MODERN, PROTOCOL_VERSION, TASKS

from .servers import Instance, serve_ours

KEY = "the same for every instance"
META = {
    PROTOCOL_VERSION: MODERN,
    CLIENT_INFO: {"name": "test", "version": "1"},
    CLIENT_CAPABILITIES: {"elicitation": {"form": {}}, "extensions": {TASKS: {}}},
}


@pytest.fixture
async def instances(tmp_path: Path) -> AsyncIterator[tuple[Instance, Instance]]:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(serve_ours(tmp_path, KEY))
        yield first, await stack.enter_async_context(serve_ours(tmp_path, KEY))


async def post(instance: Instance, message: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
    accept = {"Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
        return await client.post(instance.url, json={"jsonrpc": "2.0", **message}, headers={**accept, **headers})


async def call(instance: Instance, method: str, **params: Any) -> Any:
    """Make a request of 2026-07-28 and return its result."""
    named = params.get("name") or params["taskId"]
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, "Mcp-Name": named}
    response = await post(instance, {"id": 1, "method": method, "params": {**params, "_meta": META}}, headers)
    return response.json()["result"]


def kill(instance: Instance) -> None:
    os.kill(instance.process, signal.SIGKILL)


async def test_input_goes_to_another_instance_than_the_one_that_required_it(instances: tuple[Instance, Instance]) -> None:
    tool = "test_input_required_result_multi_round"
    first = await call(instances[0], "tools/call", name=tool, arguments={})
    kill(instances[0])
    name = {"step1": {"action": "accept", "content": {"name": "Ann"}}}
    second = await call(
        instances[1], "tools/call", name=tool, arguments={}, inputResponses=name, requestState=first["requestState"]
    )
    color = {"step2": {"action": "accept", "content": {"color": "blue"}}}
    third = await call(
        instances[1], "tools/call", name=tool, arguments={}, inputResponses=color, requestState=second["requestState"]
    )
    assert third["content"][0]["text"] == "Ann likes blue"


async def test_a_task_is_polled_at_another_instance_than_the_one_that_began_it(instances: tuple[Instance, Instance]) -> None:
    task = await call(instances[0], "tools/call", name="confirm_delete", arguments={"filename": "a"})
    kill(instances[0])
    polled = await call(instances[1], "tasks/get", taskId=task["taskId"])
    assert polled["status"] == "input_required"
    confirmed = {key: {"action": "accept", "content": {"confirm": True}} for key in polled["inputRequests"]}
    await call(instances[1], "tasks/update", taskId=task["taskId"], inputResponses=confirmed)
    assert (await call(instances[1], "tasks/get", taskId=task["taskId"]))["status"] == "completed"


async def test_a_session_of_2025_goes_on_at_another_instance(instances: tuple[Instance, Instance]) -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": {"sampling": {}}, "clientInfo": {"name": "test", "version": "1"}}
    begun = await post(instances[0], {"id": 1, "method": "initialize", "params": params}, {})
    kill(instances[0])
    session = {"Mcp-Session-Id": begun.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
    assert (await post(instances[1], {"method": "notifications/initialized"}, session)).status_code == 202
    tools = await post(instances[1], {"id": 2, "method": "tools/call", "params": {"name": "test_simple_text"}}, session)
    assert "This is a simple text response for testing." in tools.text
