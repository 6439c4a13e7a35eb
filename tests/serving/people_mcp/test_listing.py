"""What tools/list tells of an agent's tools, and of the server's own."""

from __future__ import annotations

from dataclasses import replace

import httpx
from jsonschema import Draft202012Validator

from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.mcp_revisions import TASKS
from ferryman.serving.api.mcp.agent_tools import drop_annotations
from tests.serving.conftest import create_app
from tests.serving.people_mcp.stage import McpStage

OURS = ["ask_agent", "get_execution", "list_tasks", "run_task"]


async def list_names(people: McpStage) -> list[str]:
    listed = (await people.client().call("tools/list")).result["tools"]
    return [tool["name"] for tool in listed]


async def test_the_tools_are_those_of_the_agents_conversations_then_our_own(people: McpStage) -> None:
    assert await list_names(people) == ["calculator", "http_get", "http_post", *OURS]


async def test_what_agent_workspace_or_settings_of_conversations_take_away_is_not_listed(people: McpStage) -> None:
    people.memory.agents[people.agent.id] = replace(people.agent, allowed_tools=("http_get", "calculator"))
    assert await list_names(people) == ["calculator", "http_get", *OURS]
    people.memory.agents[people.agent.id] = replace(people.agent, enabled_tools=("http_post",))
    assert await list_names(people) == ["http_post", *OURS]
    people.memory.agents[people.agent.id] = replace(people.agent, tools_enabled=False)
    assert await list_names(people) == OURS


async def test_tools_that_refer_to_other_calls_of_an_execution_are_not_listed(people: McpStage) -> None:
    people.change_chat_task(tools=("calculator", "pass", "extract", "read_result"))
    assert await list_names(people) == ["calculator", *OURS]


async def test_an_agent_whose_chat_task_is_not_there_yet_lists_what_it_will_have_and_stores_nothing(people: McpStage) -> None:
    del people.memory.tasks[people.chat_task.id]
    assert "calculator" in await list_names(people)
    assert people.chat_task.id not in people.memory.tasks


async def test_hints_follow_the_policy(people: McpStage) -> None:
    listed = {tool["name"]: tool for tool in (await people.client().call("tools/list")).result["tools"]}
    assert listed["http_get"]["annotations"] == {"readOnlyHint": True, "openWorldHint": True}
    assert listed["calculator"]["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    assert listed["http_post"]["annotations"]["readOnlyHint"] is False
    assert listed["run_task"]["annotations"]["destructiveHint"] is True
    assert all(tool["title"] for tool in listed.values())


async def test_every_schema_is_one(people: McpStage) -> None:
    for tool in (await people.client().call("tools/list")).result["tools"]:
        Draft202012Validator.check_schema(tool["inputSchema"])
        Draft202012Validator.check_schema(tool["outputSchema"])
        assert tool["inputSchema"]["type"] == "object"


async def test_fixed_arguments_are_not_shown(people: McpStage) -> None:
    from ferryman.domain.tools.settings import ToolSettings

    settings = {"http_get": ToolSettings(arguments={"url": "https://api.coingecko.com/fixed"})}
    people.memory.agents[people.agent.id] = replace(people.agent, tool_settings=settings)
    listed = {tool["name"]: tool for tool in (await people.client().call("tools/list")).result["tools"]}
    assert "url" not in listed["http_get"]["inputSchema"]["properties"]


async def test_the_list_is_for_the_caller_alone_and_fresh_for_a_while(people: McpStage) -> None:
    result = (await people.client().call("tools/list")).result
    assert (result["cacheScope"], result["ttlMs"]) == ("private", 60_000)


async def test_a_cursor_that_is_none_is_refused(people: McpStage) -> None:
    assert (await people.client().call("tools/list", {"cursor": "!"})).code == ErrorCode.INVALID_PARAMS


async def test_discovery_tells_of_tools_and_tasks(people: McpStage) -> None:
    capabilities = (await people.client().call("server/discover")).result["capabilities"]
    assert "tools" in capabilities
    assert TASKS in capabilities["extensions"]


async def test_an_agent_is_named_in_the_address(people: McpStage) -> None:
    second = people.memory.agents["agent_ann"]
    people.memory.agents[second.id] = replace(second, workspace=people.workspace, tools_enabled=False)
    transport = httpx.ASGITransport(app=create_app(people.deps()))
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    headers = {**people.headers, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=headers) as client:
        named = await client.post("/mcp", params={"agent": "agent_ann"}, json=message)
        unknown = await client.post("/mcp", params={"agent": "agent_bob"}, json=message)
    assert [tool["name"] for tool in named.json()["result"]["tools"]] == OURS
    assert (unknown.status_code, unknown.json()["error"]["message"]) == (400, "there is no such agent")


def test_no_schema_has_arguments_sent_in_headers() -> None:
    inner = {"type": "string", "x-mcp-header": "Region"}
    schema = {"type": "object", "properties": {"a": inner, "x-mcp-header": inner}, "allOf": [{"properties": {"b": inner}}]}
    plain = {"type": "string"}
    assert drop_annotations(schema) == {
        "type": "object",
        "properties": {"a": plain, "x-mcp-header": plain},
        "allOf": [{"properties": {"b": plain}}],
    }
