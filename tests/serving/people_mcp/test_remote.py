"""Tools of an agent's MCP servers through /mcp: listed once a person has accepted them, with no hint that their server gave."""

from __future__ import annotations

from dataclasses import replace

from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.remote_servers.descriptor import digest_text, write_descriptor
from ferryman.domain.remote_servers.offered import name_model_text, write_model_text
from ferryman.domain.remote_servers.pin import PinState, ToolPin
from tests.remote_servers import build_server
from tests.serving.people_mcp.stage import McpStage

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}


def add(people: McpStage, state: PinState = PinState.ACCEPTED) -> None:
    text = write_descriptor({"name": "search", "annotations": {"readOnlyHint": True}, "inputSchema": SCHEMA})
    digest = digest_text(text)
    pin = ToolPin(tool="search", name="books__search", state=state, digest=digest)
    agent = people.agent
    server = build_server(name="books", owner=agent.owner, workspace=agent.workspace, agent=agent.id, pins=(pin,))
    people.memory.mcp_servers[server.id] = server
    people.memory.mcp_descriptors[server.id] = {
        digest: text,
        name_model_text(digest): write_model_text("Find books.", SCHEMA),
    }


async def test_an_accepted_tool_is_listed_as_one_that_changes(people: McpStage) -> None:
    add(people)
    listed = {tool["name"]: tool for tool in (await people.client().call("tools/list")).result["tools"]}
    tool = listed["books__search"]
    assert (tool["description"], tool["inputSchema"]) == ("Find books.", SCHEMA)
    assert (tool["annotations"]["readOnlyHint"], tool["annotations"]["idempotentHint"]) == (False, False)


async def test_a_tool_that_nobody_accepts_is_none(people: McpStage) -> None:
    add(people, PinState.CHANGED)
    assert "books__search" not in [tool["name"] for tool in (await people.client().call("tools/list")).result["tools"]]
    assert (await people.client().call_tool("books__search", {"q": "x"})).code == ErrorCode.INVALID_PARAMS


async def test_the_lists_of_the_agent_hold_for_it(people: McpStage) -> None:
    add(people)
    people.memory.agents[people.agent.id] = replace(people.agent, allowed_tools=("calculator",))
    assert (await people.client().call_tool("books__search", {"q": "x"})).code == ErrorCode.INVALID_PARAMS
