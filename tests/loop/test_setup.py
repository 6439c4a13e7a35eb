"""The opening: the policy that is frozen, and what the model is told."""

from __future__ import annotations

from ferryman import catalog
from ferryman.ports.errors import UnavailableError
from ferryman.tools.http import TOOLS
from tests.loop.conftest import says


async def test_the_policy_is_frozen_from_task_plan_and_integrations(stage):
    stage.task(webhook_urls=("https://hooks.test/x",), webhook_match="url")
    await stage.run(says("done"))
    policy = stage.execution.policy
    assert (policy.plan.name, policy.tools, policy.webhook) == ("pro", ("http_get", "api_call"), True)
    assert (policy.webhook_urls, policy.webhook_match) == (("https://hooks.test/x",), "url")
    assert "api.coingecko.com" in policy.domains


async def test_a_change_of_the_task_does_not_reach_an_execution_under_way(stage):

    await stage.run(UnavailableError("busy"))
    stage.task(tools=(), integrations=())
    await stage.run(says("done"))
    assert stage.execution.policy.tools == ("http_get", "api_call")


async def test_the_model_is_shown_the_enabled_tools_only(stage):
    await stage.run(says("done"))
    assert [tool["name"] for tool in stage.model.prompts[0].tools] == ["api_call", "http_get"]


async def test_the_safety_preamble_precedes_the_tasks_own_prompt(stage):
    await stage.run(says("done"))
    system = stage.model.prompts[0].system
    assert "Never include API keys" in system
    assert "<tool_response>" in system
    assert system.index("Never include") < system.index("You report.")


async def test_the_variables_of_the_prompt_are_put_in(stage):
    stage.task(task_prompt="{{date}} {{datetime}} {{execution_id}} {{task_name}}")
    await stage.run(says("done"))
    prompt = stage.model.prompts[0].messages[0]["content"]
    assert prompt == "2026-11-21 2026-11-21T12:00:00+00:00 e report"


async def test_the_input_of_the_execution_follows_the_prompt(stage):
    stage.start(input="Only bitcoin.")
    await stage.run(says("done"))
    assert stage.model.prompts[0].messages[0]["content"].endswith("\n\nOnly bitcoin.")


async def test_step_zero_holds_everything_a_replay_needs(stage):
    await stage.run(says("done"))
    opening, prompt = stage.memory.openings["e"], stage.model.prompts[0]
    assert (opening.model, opening.system, opening.max_tokens) == (prompt.model, prompt.system, 4_096)
    assert (list(opening.tools), opening.temperature) == (list(prompt.tools), 0.3)


async def test_the_domains_are_those_of_the_tasks_integrations_and_no_other(stage):
    await stage.run(says("done"))
    assert stage.execution.policy.domains == catalog.load()["coingecko"].allowed_domains
    assert not stage.execution.policy.admits("slack.com")


async def test_the_model_is_sent_the_description_of_each_tool(stage):
    await stage.run(says("done"))
    descriptions = {tool.name: tool.description for tool in TOOLS}
    sent = {tool["name"]: tool["description"] for tool in stage.model.prompts[0].tools}
    assert sent == {name: descriptions[name] for name in ("api_call", "http_get")}
    assert all(len(description) > 20 for description in descriptions.values())
