"""The opening: the policy that is frozen, and what the model is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman import catalog
from ferryman.catalog.tools import TOOLS
from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.executions.execution import ExecutionSetup, Status
from ferryman.domain.executions.policy import ExecutionPolicy, collect_service_headers
from ferryman.domain.owners.cap import Cap, CapKind
from ferryman.domain.owners.plan import PRO
from ferryman.domain.tools.declared import DeclaredTool, build_cluster
from ferryman.inmemory.clock import START
from ferryman.loop.preamble import build_preamble
from ferryman.loop.setup import PROMPT_CHARACTERS_MAX
from ferryman.loop.tool_offer import DEFINITIONS_BYTES_MAX
from ferryman.ports.errors import UnavailableError
from tests.builders import build_label
from tests.loop.conftest import says


async def test_the_policy_is_frozen_from_task_plan_and_integrations(stage):
    stage.task(webhook_urls=("https://hooks.test/x",), webhook_match="url")
    await stage.run(says("done"))
    policy = stage.execution.policy
    assert (policy.plan.name, policy.tools, policy.webhook) == ("pro", ("http_get", "api_call"), True)
    assert (policy.webhook_urls, policy.webhook_match) == (("https://hooks.test/x",), "url")
    assert "api.coingecko.com" in policy.domains


async def test_the_policy_has_everything_that_the_execution_may_use(stage):
    stage.task(webhook_urls=("https://hooks.test/x",), webhook_match="url", max_credits_month=Decimal(200))
    sealed = [
        SealedCredential(
            label=build_label(name=name, service="coingecko"), ciphertext=b"", key_version=1, created_at=START, updated_at=START
        )
        for name in ("B_KEY", "A_KEY")
    ]
    stage.memory.credentials["t"] = {credential.label.name: credential for credential in sealed}
    await stage.run(says("done"))
    coingecko = catalog.load()["coingecko"]
    assert stage.execution.policy == ExecutionPolicy(
        owner="o",
        task="t",
        plan=PRO,
        tools=("http_get", "api_call"),
        integrations=("coingecko", "webhook"),
        domains=coingecko.allowed_domains,
        webhook=True,
        webhook_urls=("https://hooks.test/x",),
        webhook_match="url",
        credentials=("A_KEY", "B_KEY"),
        caps=(Cap(kind=CapKind.TASK, id="t", credits=Decimal(200)),),
        headers=collect_service_headers([coingecko]),
    )


async def test_a_task_without_the_webhook_integration_has_no_webhook_and_unknown_integrations_approve_nothing(stage):
    stage.task(integrations=("coingecko", "nowhere"))
    await stage.run(says("done"))
    assert (stage.execution.policy.webhook, stage.execution.policy.former) == (False, False)
    assert stage.execution.policy.domains == catalog.load()["coingecko"].allowed_domains


async def test_the_setup_has_everything_that_the_model_calls_are_made_of(stage):
    stage.start(input="Only bitcoin.")
    await stage.run(says("done"))
    assert stage.memory.openings["e"] == ExecutionSetup(
        model="scripted/x",
        system=build_preamble((), stage.execution.policy.domains, stage.execution.policy.headers) + "\nYou report.",
        prompt="Report for 2026-11-21.\n\nOnly bitcoin.",
        tools=tuple(tool.to_definition() for tool in TOOLS.values() if tool.name in ("api_call", "http_get")),
        max_tokens=4_096,
        temperature=0.3,
        max_iterations=8,
        max_credits=Decimal(100),
        started_at=START,
        price={"input": "3", "output": "15", "cache_write": "3.75", "cache_read": "3"},
        timeout_s=1_500.0,
    )


async def test_an_execution_whose_time_is_over_before_its_setup_fails_with_that(stage):
    stage.start(started_at=START - timedelta(seconds=1_501))
    await stage.run()
    assert (stage.execution.status, stage.execution.error) == (Status.FAILED, "the execution took longer than 1500 seconds")


async def test_declared_tools_that_do_not_fit_fail_the_execution_with_what_to_do(stage):
    declared = (DeclaredTool(name="look", url="https://api.coingecko.com/", description="x" * DEFINITIONS_BYTES_MAX),)
    stage.memory.clusters["t"] = {"": (build_cluster("", 1, declared), declared)}
    await stage.run()
    assert stage.execution.error.startswith("the definitions of 1 declared tools do not fit")


async def test_the_variables_of_the_system_prompt_are_put_in(stage):
    stage.task(system_prompt="It is {{date}}.")
    await stage.run(says("done"))
    assert stage.memory.openings["e"].system.endswith("\nIt is 2026-11-21.")


async def test_the_model_is_told_which_headers_it_may_set_for_a_service(stage):
    service = replace(catalog.load()["coingecko"], headers=("X-Page",))
    deps = stage.deps
    stage.deps = lambda: replace(deps(), integrations={"coingecko": service})
    await stage.run(says("done"))
    line = f"Headers you may set for {', '.join(service.allowed_domains)}: X-Page.\n"
    assert line in stage.memory.openings["e"].system
    assert stage.execution.policy.headers_of("api.coingecko.com") == ("X-Page",)


async def test_a_task_without_a_system_prompt_and_an_execution_without_input_add_nothing(stage):
    stage.task(system_prompt="")
    await stage.run(says("done"))
    opening, policy = stage.memory.openings["e"], stage.execution.policy
    assert opening.system == build_preamble((), policy.domains, policy.headers)
    assert opening.prompt == "Report for 2026-11-21."


async def test_a_task_may_have_less_than_its_plan_and_never_more(stage):
    stage.memory.owners["o"] = replace(stage.memory.owners["o"], plan="guru")
    stage.task(max_iterations=50, max_credits=Decimal(2_500))
    await stage.run(says("done"))
    opening = stage.memory.openings["e"]
    assert (opening.max_iterations, opening.max_credits) == (20, 500)
    assert stage.memory.entries["e.start"].postings[1].credits == 500


@pytest.mark.parametrize(
    ("characters", "starts"), [(PROMPT_CHARACTERS_MAX, True), (PROMPT_CHARACTERS_MAX + 1, False)], ids=["most", "too many"]
)
async def test_the_prompt_has_at_most_so_many_characters_with_its_variables(stage, characters, starts):
    stage.task(system_prompt="", integrations=(), max_credits=Decimal(2_500))
    system = build_preamble((), ())
    stage.task(name="n" * 100, task_prompt="{{task_name}}" * 1_000 + "x" * (characters - len(system) - 100_000))
    await stage.run(says("done"))
    assert (stage.execution.status is Status.COMPLETED) is starts


async def test_a_long_prompt_is_checked_for_abuse_all_the_same(stage):
    stage.start(input="x " * 1_001 + "xmrig")
    await stage.run(says("never"))
    assert stage.execution.error == "the prompt asks for crypto mining, which tasks may not do"


async def test_a_deleted_task_or_an_unknown_owner_fails_the_execution(stage):
    del stage.memory.owners["o"]
    await stage.run()
    assert stage.execution.error == "the owner's plan cannot run tasks"


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
    descriptions = {tool.name: tool.description for tool in TOOLS.values()}
    sent = {tool["name"]: tool["description"] for tool in stage.model.prompts[0].tools}
    assert sent == {name: descriptions[name] for name in ("api_call", "http_get")}
    assert all(len(description) > 20 for description in descriptions.values())
