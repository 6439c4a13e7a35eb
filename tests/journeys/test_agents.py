"""An agent through the whole stack: what it may not call is refused with the level named, and nothing of it is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.client import AsyncClient
from ferryman.stack.admin import Admin
from tests.journeys.conftest import NewKey, asks, call, says


async def test_an_agent_calls_what_it_may_as_it_may_and_nothing_else(
    stack: Mapping[str, Any], admin: Admin, new_key: NewKey
) -> None:
    await admin.serve_routes("api.github.com", [{"method": "GET", "path": "/fixed", "json": {"where": "fixed"}}])
    refused, answered = "the agent's allowed_tools do not name it", "fixed"
    url = "https://api.github.com/elsewhere"
    steps = [
        asks(call("api_call", method="GET", url=url, credential="GITHUB_KEY")),
        asks(call("http_get", url=url), expect=(refused,)),
        says("Done.", expect=(answered,)),
    ]
    await admin.set_script("agents_journey", {"steps": steps})
    async with AsyncClient(stack["url"], await new_key("pro"), workspace="") as client:
        (agent,) = [agent async for agent in client.iterate_agents()]
        fixed = {"http_get": {"arguments": {"url": "https://api.github.com/fixed"}, "calls_max": 1}}
        change = {"allowed_tools": ["orchestrator__http_get"], "tool_settings": fixed, "system_prompt": "You are careful."}
        await client.change_agent(agent["agent_id"], change)
        task = {"name": "read", "task_prompt": "Read.", "tools": ["api_call", "http_get"], "integrations": ["github"]}
        task_id = (await client.create_task({**task, "model": "scripted/agents_journey"}))["task_id"]
        rows = {row["tool"]: row async for row in client.iterate_policy(agent["agent_id"], task=task_id)}
        assert (rows["http_get"]["allowed"], rows["api_call"]["taken_by"]) == (True, ["agent"])
        execution = await client.run_task(task_id)
        assert (execution["status"], execution["output"]) == ("completed", "Done.")
        record = await client.get_record(execution["execution_id"])
    assert record["policy"]["tools"] == ["http_get"]
    assert "You are careful." in record["opening"]["system"]
    calls = {item["tool"]: item for item in record["calls"]}
    assert (calls["api_call"]["result"]["code"], calls["api_call"]["sent_at"]) == ("tool_not_allowed", None)
    assert calls["http_get"]["arguments"]["url"] == "https://api.github.com/fixed"


async def test_a_task_of_a_second_agent_runs_with_its_prompt_and_model_and_within_its_list(
    stack: Mapping[str, Any], admin: Admin, new_key: NewKey
) -> None:
    await admin.serve_routes("api.github.com", [{"method": "GET", "path": "/zone", "json": {"zone": "UTC"}}])
    refused, url = "the agent's allowed_tools do not name it", "https://api.github.com/zone"
    steps = [
        asks(call("http_get", url=url)),
        asks(call("api_call", url=url), call("orchestrator__api_call", url=url), expect=("UTC",)),
        says("Done.", expect=(refused,)),
    ]
    await admin.set_script("eve_journey", {"steps": steps})
    async with AsyncClient(stack["url"], await new_key("pro"), workspace="") as client:
        eve = await client.create_agent({"template": "eve", "model": "scripted/eve_journey"})
        await client.change_agent(eve["agent_id"], {"allowed_tools": [*eve["allowed_tools"], "orchestrator__http_get"]})
        task = {"name": "plan", "task_prompt": "Plan.", "system_prompt": "In hours.", "integrations": ["github"]}
        stored = await client.create_task({**task, "tools": ["api_call", "http_get"], "agent_id": eve["agent_id"]})
        assert (stored["agent_id"], stored["model"]) == (eve["agent_id"], None)
        rows = {row["tool"]: row async for row in client.iterate_policy(eve["agent_id"], task=stored["task_id"])}
        assert (rows["http_get"]["allowed"], rows["api_call"]["taken_by"]) == (True, ["agent"])
        execution = await client.run_task(stored["task_id"])
        assert (execution["status"], execution["agent_id"]) == ("completed", eve["agent_id"])
        record = await client.get_record(execution["execution_id"])
    opening = record["opening"]
    assert opening["model"] == "scripted/eve_journey"
    assert opening["system"].index("You are Eve") < opening["system"].index("In hours.")
    assert [tool["name"] for tool in opening["tools"]] == ["http_get"]
    assert [(item["tool"], item["sent_at"] is not None, item["result"]["code"]) for item in record["calls"]] == [
        ("http_get", True, None),
        ("api_call", False, "tool_not_allowed"),
        ("orchestrator__api_call", False, "tool_not_implemented"),
    ]
