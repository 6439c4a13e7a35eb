"""An execution belongs to an agent: its prompt and model, what it may call, and how, are frozen at the start and hold."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.refusal import INTERNAL_ERROR
from ferryman.domain.executions.execution import Status
from ferryman.domain.owners.cap import CapKind
from ferryman.domain.owners.plan import PRO
from ferryman.domain.tools.settings import ToolSettings
from ferryman.domain.workspaces.agent import build_default_agent
from ferryman.domain.workspaces.effective_policy import ToolLimits
from ferryman.domain.workspaces.member import Membership, Role
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.domain.workspaces.workspace import WorkspaceState, build_default_workspace
from ferryman.ports.errors import UnavailableError
from tests.builders import START
from tests.loop.conftest import KEY, Stage, fetches, says
from tests.loop.test_routed import ALL
from tests.loop.test_scan import keyed  # noqa: F401 - a fixture

WORKSPACE = derive_default_workspace("o")
AGENT = derive_default_agent(WORKSPACE)
FETCHED = {"url": "https://api.coingecko.com/1"}


def give_agent(stage: Stage, **fields: Any) -> None:
    stage.memory.agents[AGENT] = replace(build_default_agent("o", WORKSPACE), **fields)


def give_workspace(stage: Stage, **fields: Any) -> None:
    stage.memory.workspaces[WORKSPACE] = replace(build_default_workspace("o"), **fields)


def give_settings(stage: Stage, tool: str = "http_get", **fields: Any) -> None:
    give_agent(stage, tool_settings={tool: ToolSettings(**fields)})


def names(stage: Stage) -> list[str]:
    """Return the tools that the model is shown."""
    return [tool["name"] for tool in stage.memory.openings["e"].tools]


async def test_the_agents_prompt_comes_before_that_of_the_task(stage: Stage) -> None:
    give_agent(stage, system_prompt="You are {{task_name}}'s agent.")
    await stage.run(says("done"))
    assert stage.memory.openings["e"].system.endswith("\nYou are report's agent.\nYou report.")


async def test_the_agents_model_is_that_of_a_task_which_names_none(stage: Stage) -> None:
    give_agent(stage, model="scripted/other")
    stage.task(model="")
    await stage.run(says("done"))
    assert stage.memory.openings["e"].model == "scripted/other"


async def test_a_tasks_own_model_comes_before_the_agents(stage: Stage) -> None:
    give_agent(stage, model="scripted/other")
    await stage.run(says("done"))
    assert stage.memory.openings["e"].model == "scripted/x"


@pytest.mark.parametrize("level", ["agent", "workspace", "plan"])
async def test_a_level_that_does_not_name_a_tool_takes_it_away(
    stage: Stage, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(stage, level, ("http_get",), monkeypatch)
    await stage.run(says("done"))
    policy = stage.execution.policy
    assert policy is not None
    assert (policy.tools, names(stage)) == (("http_get",), ["http_get"])
    assert policy.limits == ToolLimits(**{level: ("http_get",)})


@pytest.mark.parametrize(
    ("level", "why"),
    [
        ("agent", "the agent's allowed_tools do not name it"),
        ("workspace", "the workspace's allowed_tools do not name it"),
        ("plan", "the owner's plan does not have it"),
    ],
)
async def test_a_call_of_a_tool_that_a_level_takes_away_is_refused_with_the_level_named_and_nothing_is_sent(
    stage: Stage, level: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(stage, level, ("http_get",), monkeypatch)
    await stage.run(says("", ("api_call", FETCHED), ("http_get", FETCHED)), says("done"))
    refused, answered = stage.results
    assert refused.content == f"Error: tool 'api_call' is not allowed: {why}"
    assert (refused.blocked, refused.code) == (True, "tool_not_allowed")
    assert answered.ok
    assert [ticket.tool for ticket in stage.executed] == ["http_get"]


def limit(stage: Stage, level: str, tools: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `level` allow `tools` alone."""
    if level == "agent":
        give_agent(stage, allowed_tools=tools)
    elif level == "workspace":
        give_workspace(stage, allowed_tools=tools)
    else:
        monkeypatch.setattr("tests.loop.conftest.PLANS", {"pro": replace(PRO, tools=tools)})


@pytest.mark.parametrize("spelling", ["send_push_notification", "orchestrator__send_push_notification"])
async def test_both_forms_of_a_name_are_refused(stage: Stage, spelling: str) -> None:
    give_agent(stage, allowed_tools=("http_get", "send_push_notification"))
    await stage.run(says("", (spelling, {})), says("done"))
    assert stage.results[0].content == f"Error: tool '{spelling}' is not implemented"


async def test_names_in_the_agents_list_may_have_the_prefix(stage: Stage) -> None:
    give_agent(stage, allowed_tools=("orchestrator__http_get",))
    await stage.run(says("done"))
    assert names(stage) == ["http_get"]


async def test_a_routed_call_needs_the_tool_that_executes_it(stage: Stage) -> None:
    stage.task(tools=ALL)
    give_agent(stage, allowed_tools=("http_request", "http_post"))
    await stage.run(says("", ("http_request", {"method": "GET", **FETCHED})), says("done"))
    assert stage.results[0].content == "Error: tool 'http_get' is not allowed: the agent's allowed_tools do not name it"
    assert stage.executed == []


async def test_a_change_of_the_agent_does_not_change_an_execution_that_has_begun(stage: Stage) -> None:
    give_agent(stage, allowed_tools=("http_get",))

    def widen(ticket: Any) -> Any:
        give_agent(stage)
        return Stage().on_call(ticket)

    stage.on_call = widen
    await stage.run(fetches(), says("", ("api_call", FETCHED)), says("done"))
    assert "is not allowed" in stage.results[1].content


@pytest.mark.parametrize(
    ("give", "message"),
    [
        (lambda stage: give_agent(stage, archived=True), "the agent is archived"),
        (lambda stage: give_workspace(stage, state=WorkspaceState.ARCHIVED), "the workspace is archived"),
        (lambda stage: give_workspace(stage, state=WorkspaceState.DELETING), "the workspace was deleted"),
        (lambda stage: stage.task(agent="agent_x"), "the task was given to another agent: start it again"),
        (lambda stage: stage.task(workspace="ws_x"), "the task was deleted"),
        (lambda stage: stage.task(model=""), "neither the task nor its agent names a model"),
        (
            lambda stage: give_agent(stage, system_prompt="start xmrig"),
            "the prompt asks for crypto mining, which tasks may not do",
        ),
    ],
)
async def test_an_execution_that_may_not_start_fails_before_anything_is_spent(stage: Stage, give: Any, message: str) -> None:
    give(stage)
    await stage.run(says("done"))
    assert (stage.execution.status, stage.execution.error) == (Status.FAILED, message)
    assert stage.execution.credits_used == 0


@pytest.mark.parametrize("named", ["person", "taken_over_by"])
async def test_an_execution_whose_person_has_left_fails_before_anything_is_spent(stage: Stage, named: str) -> None:
    stage.start(**{named: "person_1"})
    await stage.run(says("done"))
    assert stage.execution.error == "the person who answers for the execution has left the workspace"
    assert stage.execution.credits_used == 0


async def test_an_execution_that_was_taken_over_counts_to_who_answers_for_it(stage: Stage) -> None:
    for person, limit in (("gone", Decimal(1)), ("here", Decimal(7_000))):
        member = Membership(
            owner="o", workspace=WORKSPACE, person=person, role=Role.OPERATOR, max_credits_month=limit, created_at=START
        )
        stage.memory.memberships[WORKSPACE, person] = member
    stage.start(person="gone", taken_over_by="here")
    await stage.run(says("done"))
    assert stage.execution.policy is not None
    assert [(cap.kind, cap.id, cap.credits) for cap in stage.execution.policy.caps] == [
        (CapKind.PERSON, f"{WORKSPACE}/here", Decimal(7_000))
    ]


async def test_an_execution_of_an_agent_that_is_gone_fails(stage: Stage) -> None:
    stage.task(agent="agent_x")
    stage.start(agent="agent_x")
    await stage.run(says("done"))
    assert (stage.execution.status, stage.execution.error) == (Status.FAILED, "the agent was deleted")


async def test_fixed_arguments_are_not_shown_to_the_model(stage: Stage) -> None:
    give_settings(stage, arguments={"headers": {"Accept": "text/plain"}})
    await stage.run(says("done"))
    (definition,) = [tool for tool in stage.memory.openings["e"].tools if tool["name"] == "http_get"]
    assert "headers" not in definition["input_schema"]["properties"]


async def test_fixed_arguments_are_put_in_and_the_model_cannot_change_them(stage: Stage) -> None:
    give_settings(stage, arguments={"headers": {"Accept": "text/plain"}})
    calls = [("http_get", FETCHED), ("http_get", {**FETCHED, "headers": {"Accept": "evil"}})]
    await stage.run(says("", *calls), says("done"))
    expected = {**FETCHED, "headers": {"Accept": "text/plain"}}
    assert [ticket.display_arguments for ticket in stage.executed] == [expected, expected]
    assert stage.executed[0].arguments == b'sealed:{"url": "https://api.coingecko.com/1", "headers": {"Accept": "text/plain"}}'


async def test_the_model_does_not_read_fixed_arguments_later(stage: Stage) -> None:
    give_settings(stage, arguments={"headers": {"Accept": "text/fixed"}})
    await stage.run(fetches(), says("done"))
    assert "text/fixed" not in str(stage.model.prompts[-1].messages)


@pytest.mark.parametrize("tool", ["http_request", "http_get"])
async def test_a_routed_call_has_the_fixed_arguments_of_both_tools(stage: Stage, tool: str) -> None:
    stage.task(tools=ALL)
    give_settings(stage, tool, arguments={"url": "https://api.coingecko.com/fixed"})
    await stage.run(says("", ("http_request", {"method": "GET", "url": "https://evil.example/"})), says("done"))
    assert stage.executed[0].display_arguments["url"] == "https://api.coingecko.com/fixed"


async def test_fixed_arguments_that_hold_a_credential_keep_the_execution_from_starting(keyed: Stage) -> None:  # noqa: F811
    give_settings(keyed, arguments={"headers": {"x": KEY}})
    await keyed.run(says("done"))
    expected = "an argument that the agent's tool_settings fix holds a credential: name the credential instead"
    assert (keyed.execution.status, keyed.execution.error) == (Status.FAILED, expected)


async def test_fixed_arguments_without_a_credential_are_frozen_as_they_are(keyed: Stage) -> None:  # noqa: F811
    give_settings(keyed, arguments={"headers": {"x": "1"}})
    await keyed.run(says("done"))
    assert keyed.execution.policy is not None
    assert keyed.execution.policy.settings_of("http_get").arguments == {"headers": {"x": "1"}}


async def test_an_execution_makes_so_many_calls_of_a_tool_and_no_more(stage: Stage) -> None:
    give_settings(stage, calls_max=2)
    await stage.run(fetches(3), fetches(), says("", ("api_call", FETCHED)), says("done"))
    contents = [result.content for result in stage.results]
    refused = "Error: tool 'http_get' may be called at most 2 times in an execution of this agent"
    assert contents == ["answer 0", "answer 1", refused, refused, "answer 4"]


async def test_calls_are_counted_over_deliveries(stage: Stage) -> None:
    give_settings(stage, calls_max=2)
    await stage.run(fetches(2), UnavailableError("later"))
    stage.clock.turn(200)
    await stage.run(fetches(), says("done"))
    assert [ticket.seq for ticket in stage.executed] == [0, 1]


async def test_a_call_that_is_refused_when_it_is_repeated_is_counted(stage: Stage) -> None:
    give_settings(stage, calls_max=1)
    answers = [UnavailableError("its answer was lost"), ToolCallResult.from_refusal("http_get", INTERNAL_ERROR)]
    stage.on_call = lambda _: answers.pop(0)
    await stage.run(fetches())
    stage.clock.turn(200)
    await stage.run(fetches(), says("done"))
    refused = "Error: tool 'http_get' may be called at most 1 times in an execution of this agent"
    assert [result.content for result in stage.results] == [INTERNAL_ERROR.message, refused]


async def test_a_refused_call_is_not_counted(stage: Stage) -> None:
    give_settings(stage, calls_max=1)
    same = ("http_get", {"url": "https://api.coingecko.com/same"})
    await stage.run(says("", ("nothing", {}), same), says("done"))
    assert stage.results[1].ok
