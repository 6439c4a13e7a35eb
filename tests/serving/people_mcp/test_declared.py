"""Declared tools of an agent's chat task through /mcp: listed with what they may do, and called like the built-in ones."""

from __future__ import annotations

from dataclasses import replace

from ferryman.domain.http.request import Method
from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.tools.declared import DeclaredTool, Parameter, build_cluster
from tests.serving.people_mcp.stage import McpStage

PRICE = DeclaredTool(
    name="getPrice",
    description="Returns a price.",
    url="https://api.coingecko.com/{id}",
    parameters={"id": Parameter(schema={"type": "string"})},
    cluster="prices",
)
ORDER = replace(PRICE, name="placeOrder", description="Places an order.", method=Method.POST)


def declare(people: McpStage, *tools: DeclaredTool) -> None:
    cluster = {"prices": (build_cluster("prices", 1, tools), tools)}
    people.memory.clusters[people.chat_task.id] = cluster


async def test_they_are_listed_with_hints_of_what_they_do(people: McpStage) -> None:
    declare(people, PRICE, ORDER)
    listed = {tool["name"]: tool for tool in (await people.client().call("tools/list")).result["tools"]}
    assert listed["getPrice"]["annotations"] == {"readOnlyHint": True, "openWorldHint": True}
    assert listed["placeOrder"]["annotations"]["readOnlyHint"] is False
    assert listed["getPrice"]["inputSchema"]["required"] == ["id"]


async def test_one_is_called_and_its_execution_may_call_no_other(people: McpStage) -> None:
    declare(people, PRICE, ORDER)
    answer = (await people.client().call_tool("getPrice", {"id": "btc"})).result
    assert answer["content"][0]["text"] == "42"
    policy = people.memory.executions[answer["structuredContent"]["execution_id"]].policy
    assert policy is not None
    assert list(policy.declared) == ["getPrice"]


async def test_one_that_is_turned_off_or_taken_away_is_none(people: McpStage) -> None:
    declare(people, replace(PRICE, enabled=False), ORDER)
    people.memory.agents[people.agent.id] = replace(people.agent, allowed_tools=("getPrice", "calculator"))
    for name in ("getPrice", "placeOrder"):
        assert (await people.client().call_tool(name, {"id": "btc"})).code == ErrorCode.INVALID_PARAMS
    assert people.orchestrator.executed == []


async def test_one_with_a_name_of_ours_is_not_listed_and_ours_is_called(people: McpStage) -> None:
    declare(people, replace(PRICE, name="list_tasks"))
    names = [tool["name"] for tool in (await people.client().call("tools/list")).result["tools"]]
    assert names.count("list_tasks") == 1
    assert "tasks" in (await people.client().call_tool("list_tasks")).result["structuredContent"]
