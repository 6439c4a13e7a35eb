"""Agents over HTTP: what a workspace's admins do with them, what is refused, and what an agent may call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from ferryman.catalog.agents import TEMPLATES
from ferryman.catalog.tools import LISTED
from ferryman.domain.approvals.rules import ApprovalRule, ConfirmationMode
from ferryman.domain.workspaces.agent import AGENTS_PER_WORKSPACE_MAX
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.domain.workspaces.workspace import build_default_workspace

from .conftest import TASK, Stage
from .problems import read_problems
from .values import RULES

WORKSPACE = derive_default_workspace("ann")
DEFAULT = derive_default_agent(WORKSPACE)
SETTINGS = {"http_get": {"calls_max": 5, "timeout_s": 2.5, "arguments": {"headers": {"Accept": "text/plain"}}, "flow": None}}
NEW = {"name": "Prices", "description": "d", "system_prompt": "Be brief.", "allowed_tools": ["http_get", "read_artifact"]}


async def create(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/v1/agents", json={**NEW, **fields})
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def test_a_created_agent_is_answered_with_every_field(client: httpx.AsyncClient) -> None:
    limits = {"max_credits_month": 5, "conversation_credits_max": 2.5}
    answer = await client.post("/v1/agents", json={**NEW, "tool_settings": SETTINGS, "approvals": RULES, **limits})
    body = answer.json()
    assert (answer.status_code, answer.headers["location"]) == (201, f"/v1/agents/{body['agent_id']}")
    assert body == {
        **NEW,
        "agent_id": body["agent_id"],
        "workspace_id": WORKSPACE,
        "model": None,
        "tool_settings": SETTINGS,
        "approvals": RULES,
        "max_credits_month": "5",
        "conversation_credits_max": "2.5",
        "tools_enabled": True,
        "enabled_tools": None,
        "titles": "first_line",
        "template": None,
        "is_default": False,
        "archived": False,
        "created_at": "2026-11-21T12:00:00Z",
        "updated_at": "2026-11-21T12:00:00Z",
    }
    assert (await client.get(answer.headers["location"])).json() == body


@pytest.mark.parametrize("name", sorted(TEMPLATES))
async def test_an_agent_is_made_from_each_template(client: httpx.AsyncClient, name: str) -> None:
    body = (await client.post("/v1/agents", json={"template": name})).json()
    template = TEMPLATES[name]
    assert (body["name"], body["system_prompt"]) == (template.name, template.system_prompt)
    assert (tuple(body["allowed_tools"]), body["template"]) == (template.allowed_tools, name)


async def test_what_is_given_takes_the_place_of_the_templates(client: httpx.AsyncClient) -> None:
    body = (await client.post("/v1/agents", json={"template": "wally", "name": "Willy", "allowed_tools": []})).json()
    assert (body["name"], body["allowed_tools"], body["description"]) == ("Willy", [], TEMPLATES["wally"].description)


async def test_a_request_that_is_repeated_under_its_key_makes_one_agent(client: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": '"once"'}
    first, second = [(await client.post("/v1/agents", json=NEW, headers=headers)).json() for _ in range(2)]
    assert first == second
    assert len((await client.get("/v1/agents")).json()["agents"]) == 3


async def test_the_default_agent_is_listed_beside_the_others(client: httpx.AsyncClient) -> None:
    created = (await create(client))["agent_id"]
    agents = (await client.get("/v1/agents")).json()["agents"]
    assert {(agent["agent_id"], agent["is_default"]) for agent in agents} == {
        (DEFAULT, True),
        ("agent_ann", False),
        (created, False),
    }


async def test_a_change_leaves_the_other_fields_as_they_were(client: httpx.AsyncClient, stage: Stage) -> None:
    before = await create(client, tool_settings=SETTINGS)
    stage.clock.turn(5)
    after = (await client.patch(f"/v1/agents/{before['agent_id']}", json={"allowed_tools": []})).json()
    assert after == {**before, "allowed_tools": [], "updated_at": "2026-11-21T12:00:05Z"}


async def test_the_default_agent_can_be_changed(client: httpx.AsyncClient) -> None:
    await client.patch(f"/v1/agents/{DEFAULT}", json={"name": "Ours"})
    assert (await client.get(f"/v1/agents/{DEFAULT}")).json()["name"] == "Ours"


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"name": " "}, "name", "must not be empty"),
        ({"allowed_tools": ["a b"]}, "allowed_tools.0", "must be the name of a tool: 1 to 64 letters, digits, _ and -"),
        ({"allowed_tools": ["x", "orchestrator__x"]}, "allowed_tools.1", "is listed twice"),
        ({"max_credits_month": 10_000_000}, "max_credits_month", "must be at most 55000 on plan pro"),
        ({"conversation_credits_max": 0}, "conversation_credits_max", "must be above 0"),
        ({"conversation_credits_max": 10_000_000}, "conversation_credits_max", "must be at most 55000 on plan pro"),
        ({"model": "unknown"}, "model", "has no price; priced are: "),
        ({"titles": "best"}, "titles", "should be 'first_line' or 'model'"),
        ({"template": "bob"}, "template", "is not a known template; known are: manager, wally, eve"),
        (
            {"tool_settings": {"http_get": {"arguments": {"headers": "text"}}}},
            "tool_settings.http_get.arguments.headers",
            "'headers' for http_get must be an object",
        ),
        ({"tool_settings": {"http_get": {"calls_max": 0}}}, "tool_settings.http_get.calls_max", "must be 1 to 1000"),
    ],
)
async def test_a_broken_rule_is_named(client: httpx.AsyncClient, fields: dict[str, Any], field: str, message: str) -> None:
    broken = read_problems(await client.post("/v1/agents", json={**NEW, **fields}))
    assert list(broken) == [field]
    assert message in broken[field]


async def test_a_workspace_has_so_many_agents_and_no_more(client: httpx.AsyncClient, stage: Stage) -> None:
    agent = await create(client)
    stored = stage.memory.agents[agent["agent_id"]]
    for number in range(AGENTS_PER_WORKSPACE_MAX - 3):
        stage.memory.agents[f"agent_x{number}"] = replace(stored, id=f"agent_x{number}")
    answer = await client.post("/v1/agents", json=NEW)
    assert "a workspace may have at most 100 agents" in answer.text


async def test_an_archived_agent_is_changed_only_once_it_is_restored(client: httpx.AsyncClient) -> None:
    path = f"/v1/agents/{(await create(client))['agent_id']}"
    assert (await client.post(f"{path}/archive")).json()["archived"] is True
    refused = await client.patch(path, json={"name": "b"})
    assert (refused.status_code, refused.json()["detail"]) == (409, "the agent is archived: restore it first")
    assert (await client.post(f"{path}/restore")).json()["archived"] is False
    assert (await client.patch(path, json={"name": "b"})).status_code == 200


@pytest.mark.parametrize(
    ("method", "end", "detail"),
    [("POST", "/archive", "the default agent cannot be archived"), ("DELETE", "", "the default agent cannot be deleted")],
)
async def test_the_default_agent_stays(client: httpx.AsyncClient, method: str, end: str, detail: str) -> None:
    answer = await client.request(method, f"/v1/agents/{DEFAULT}{end}")
    assert (answer.status_code, answer.json()["detail"]) == (409, detail)


async def test_an_agent_is_deleted_by_a_job(client: httpx.AsyncClient) -> None:
    path = f"/v1/agents/{(await create(client))['agent_id']}"
    answer = await client.delete(path)
    assert (answer.status_code, answer.json()["kind"]) == (202, "delete_agent")
    assert answer.headers["location"] == f"/v1/jobs/{answer.json()['job_id']}"
    assert (await client.get(path)).status_code == 404


async def test_an_agent_that_has_tasks_is_deleted_with_them_or_not_at_all(client: httpx.AsyncClient, stage: Stage) -> None:
    agent = (await create(client))["agent_id"]
    task = (await client.post("/v1/tasks", json=TASK)).json()["task_id"]
    stage.memory.tasks[task] = replace(stage.memory.tasks[task], agent=agent)
    refused = await client.delete(f"/v1/agents/{agent}")
    expected = "the agent has tasks: give them to another agent, or delete them with it (tasks=delete)"
    assert (refused.status_code, refused.json()["detail"]) == (409, expected)
    assert (await client.delete(f"/v1/agents/{agent}?tasks=delete")).status_code == 202


@pytest.mark.parametrize("end", ["", "/policy"])
async def test_an_agent_of_another_workspace_is_answered_as_one_that_does_not_exist(
    client: httpx.AsyncClient, stage: Stage, end: str
) -> None:
    agent = (await create(client))["agent_id"]
    theirs = await client.get(f"/v1/agents/{agent}{end}", headers=stage.owner("bob"))
    nothing = await client.get(f"/v1/agents/agent_x{end}", headers=stage.owner("bob"))
    assert (theirs.status_code, theirs.content) == (404, nothing.content)


async def read_policy(client: httpx.AsyncClient, agent: str, **query: str) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    cursor: str | None = ""
    while cursor is not None:
        page = (
            await client.get(f"/v1/agents/{agent}/policy", params={**query, **({"cursor": cursor} if cursor else {})})
        ).json()
        rows |= {row.pop("tool"): row for row in page["tools"]}
        cursor = page["next"]
    return rows


async def test_the_policy_says_of_every_tool_which_levels_take_it_away(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.memory.workspaces[WORKSPACE] = replace(build_default_workspace("ann"), allowed_tools=("http_get", "webhook"))
    rows = await read_policy(client, (await create(client))["agent_id"])
    assert sorted(rows) == sorted(LISTED)
    flow = rows["http_get"].pop("flow")
    assert (flow["changes"], flow["sends"], flow["corrected"]) == (False, False, False)
    assert rows["http_get"] == {"allowed": True, "taken_by": [], "reason": "every level allows it", "asks": "never"}
    assert rows["webhook"]["taken_by"] == ["agent"]
    assert rows["api_call"]["taken_by"] == ["agent", "workspace"]
    assert rows["orchestrator__read_artifact"]["taken_by"] == ["workspace", "catalog"]
    assert rows["api_call"]["reason"] == (
        "the agent's allowed_tools do not name it; the workspace's allowed_tools do not name it"
    )


async def test_the_policy_says_of_every_tool_whether_a_person_is_asked(client: httpx.AsyncClient, stage: Stage) -> None:
    rules = (ApprovalRule(mode=ConfirmationMode.ALWAYS, tools=("http_get",)),)
    stage.memory.workspaces[WORKSPACE] = replace(build_default_workspace("ann"), approvals=rules)
    rows = await read_policy(client, (await create(client, approvals=RULES))["agent_id"])
    assert (rows["http_get"]["asks"], rows["http_post"]["asks"]) == ("always", "depends")
    assert (rows["api_call"]["asks"], rows["web_fetch"]["asks"]) == ("when_untrusted", "never")


async def test_the_owner_corrects_which_arguments_of_a_tool_decide(client: httpx.AsyncClient) -> None:
    correction = {"changes": None, "sends": None, "destroys": None, "reads_people": None, "roles": {"body": "free"}}
    stored = await create(client, tool_settings={"webhook": {"flow": {"roles": {"body": "free"}}}})
    assert stored["tool_settings"]["webhook"]["flow"] == correction
    rows = await read_policy(client, stored["agent_id"])
    assert (rows["webhook"]["flow"]["roles"], rows["webhook"]["flow"]["corrected"]) == (
        {"url": "decides", "body": "free"},
        True,
    )
    assert not rows["api_call"]["flow"]["corrected"]


async def test_a_tool_that_the_owner_says_changes_something_is_asked_about(client: httpx.AsyncClient) -> None:
    stored = await create(client, tool_settings={"http_get": {"flow": {"changes": True}}})
    assert (await read_policy(client, stored["agent_id"]))["http_get"]["asks"] == "when_untrusted"


async def test_fixed_arguments_are_the_owners_own(client: httpx.AsyncClient) -> None:
    stored = await create(client, tool_settings={"http_post": {"arguments": {"url": "https://api.github.com/gists/1"}}})
    assert (await read_policy(client, stored["agent_id"]))["http_post"]["flow"]["fixed"] == ["url"]


@pytest.mark.parametrize(
    ("flow", "field", "message"),
    [
        ({"roles": {"colour": "free"}}, "tool_settings.webhook.flow.roles.colour", "is no argument of the tool"),
        ({"roles": {"body": "none"}}, "tool_settings.webhook.flow.roles.body", "decides"),
        ({"changes": "no"}, "tool_settings.webhook.flow.changes", "boolean"),
    ],
)
async def test_a_correction_that_says_nothing_of_a_tool_is_refused(
    client: httpx.AsyncClient, flow: dict[str, Any], field: str, message: str
) -> None:
    answer = await client.post("/v1/agents", json={**NEW, "tool_settings": {"webhook": {"flow": flow}}})
    assert message in read_problems(answer)[field]


async def test_the_policy_of_a_task_takes_away_what_the_task_does_not_enable(client: httpx.AsyncClient) -> None:
    task = (await client.post("/v1/tasks", json={**TASK, "tools": ["http_get"]})).json()["task_id"]
    tool = {"kind": "http", "name": "look_up", "url": "https://api.github.com/users/{user}"}
    assert (await client.post(f"/v1/tasks/{task}/tools", json=tool)).status_code == 201
    rows = await read_policy(client, DEFAULT, task=task)
    assert rows["http_get"]["allowed"] is rows["look_up"]["allowed"] is True
    assert rows["webhook"]["taken_by"] == ["task"]


async def test_the_policy_of_the_catalog_has_no_declared_tool(client: httpx.AsyncClient) -> None:
    agent = (await create(client))["agent_id"]
    task = (await client.post("/v1/tasks", json={**TASK, "agent_id": agent})).json()["task_id"]
    await client.post(f"/v1/tasks/{task}/tools", json={"kind": "http", "name": "look", "url": "https://api.github.com/x"})
    assert "look" in await read_policy(client, agent, task=task)
    assert sorted(await read_policy(client, agent, task=task, catalog="true")) == sorted(LISTED)


async def test_the_policy_of_a_task_that_is_not_there_is_not_found(client: httpx.AsyncClient) -> None:
    answer = await client.get(f"/v1/agents/{DEFAULT}/policy?task=task_x")
    assert (answer.status_code, answer.json()["title"]) == (404, "Not Found")
