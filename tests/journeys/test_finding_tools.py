"""Tools loaded by context, through the whole stack: few are shown, the others are found and called."""

from __future__ import annotations

import json

from tests.journeys.conftest import Journey, asks, call, says
from tests.journeys.test_custom_tools import HOST, api, document, list_prompts

CONTEXT = {"tool_loading": "context-aware"}


async def test_a_tool_among_hundreds_is_found_and_called_and_no_other_is_shown(journey: Journey) -> None:
    await journey.admin.serve_routes(HOST, [{"method": "*", "path": f"{journey.path}/277", "json": {"ok": True}}])
    task = await journey.task(
        asks(call("find_tools", query="item_277")),
        asks(call("item_277")),
        says("Done.", expect=('"ok"',)),
        tools=["calculator"],
        integrations=["lunarcrush"],
        **CONTEXT,
    )
    spec = json.loads(document(journey, 300, description="What it is for, at length. " * 30))
    await api(journey, "POST", f"/v1/tasks/{task}/tools/import-openapi", {"spec": spec})
    record = await journey.run(task)
    assert await journey.problems() == []
    assert (record["status"], [row["blocked"] for row in record["tool_calls"]]) == ("completed", [False, False])
    offered = [[tool["name"] for tool in prompt["tools"]] for prompt in await list_prompts(journey)]
    assert offered == [["calculator", "find_tools"], *[["calculator", "find_tools", "item_277"]] * 2]


async def test_the_loading_of_a_task_can_be_changed(journey: Journey) -> None:
    task = await journey.task(says("Done."), tools=["call_custom_tool"], **CONTEXT)
    assert (await api(journey, "PATCH", f"/v1/tasks/{task}", {"tool_loading": "all"}))["tool_loading"] == "all"
    await journey.run(task)
    (prompt,) = await list_prompts(journey)
    assert [tool["name"] for tool in prompt["tools"]] == ["call_custom_tool"]
