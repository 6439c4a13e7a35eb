"""The tables over HTTP: services, tools, plans, and who asks."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from decimal import Decimal

import httpx

from ferryman.catalog.agents import TEMPLATES
from ferryman.catalog.tools import CATEGORIES, LISTED, TOOLS
from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.tools.tool import ToolPolicy

from .conftest import TASK, Stage

BALANCE = CreditBalance(id="owner:ann", credits_used=Decimal("10.5"), credits_reserved=Decimal(100))


async def test_the_catalog_is_listed_by_id(client: httpx.AsyncClient) -> None:
    listed = (await client.get("/v1/integrations")).json()["integrations"]
    assert [integration["id"] for integration in listed] == sorted(integration["id"] for integration in listed)
    integration = (await client.get("/v1/integrations/openweather")).json()
    assert integration in listed
    assert (integration["status"], integration["default_auth_param"]) == ("approved", "appid")
    assert (await client.get("/v1/integrations/nowhere")).status_code == 404


async def test_the_catalog_has_the_categories_and_the_tools_on_its_first_page(client: httpx.AsyncClient) -> None:
    first = (await client.get("/v1/integrations?limit=1")).json()
    assert [category["id"] for category in first["categories"]] == list(CATEGORIES)
    assert [tool["name"] for tool in first["tools"]] == list(LISTED)
    second = (await client.get("/v1/integrations", params={"limit": 1, "cursor": first["next"]})).json()
    assert (len(second["integrations"]), second["categories"], second["tools"]) == (1, [], [])


async def test_every_tool_is_listed_with_what_is_shown_of_it(client: httpx.AsyncClient) -> None:
    tools = (await client.get("/v1/tools?limit=100")).json()["tools"]
    assert [tool["name"] for tool in tools] == sorted(LISTED)
    names = {"name", "display_name", "description", "category", "icon_url", "implemented", "reason", "input_schema", "policy"}
    assert all(set(tool) == names for tool in tools)
    assert {tool["name"] for tool in tools if tool["implemented"]} == set(TOOLS)
    unimplemented = [tool for tool in tools if not tool["implemented"]]
    assert {(tool["input_schema"], tool["policy"]) for tool in unimplemented} == {(None, None)}
    assert all(tool["reason"] for tool in unimplemented)
    assert {tool["reason"] for tool in tools if tool["implemented"]} == {None}


async def test_the_templates_of_agents_are_listed_by_id_with_all_that_an_agent_begins_with(client: httpx.AsyncClient) -> None:
    first = (await client.get("/v1/agent-templates?limit=1")).json()
    rest = (await client.get("/v1/agent-templates", params={"cursor": first["next"]})).json()
    templates = first["templates"] + rest["templates"]
    assert [template["id"] for template in templates] == sorted(TEMPLATES)
    for template in templates:
        expected = asdict(TEMPLATES[template["id"]])
        del expected["icon"]
        assert {name: value for name, value in template.items() if name != "icon_url"} == json.loads(json.dumps(expected))


async def test_what_is_decided_about_a_tool_is_shown(client: httpx.AsyncClient) -> None:
    (tool,) = [tool for tool in (await client.get("/v1/tools?limit=100")).json()["tools"] if tool["name"] == "api_call"]
    assert tool["input_schema"] == TOOLS["api_call"].schema
    policy = tool["policy"]
    assert set(policy) == {"kind", "function", *(field.name for field in fields(ToolPolicy))}
    assert (policy["kind"], policy["network"], policy["fee"], policy["repeatable"]) == ("http", "registry", "0.5", "keyed")


async def test_a_task_enables_no_tool_that_is_not_implemented(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/tasks", json={**TASK, "tools": ["weather"]})
    assert answer.status_code == 422
    (problem,) = answer.json()["errors"]
    assert (problem["field"], problem["message"]) == ("tools.0", f"is not implemented: weather {LISTED['weather'].reason}")


async def test_the_plans_are_listed_with_their_limits(client: httpx.AsyncClient) -> None:
    plans = (await client.get("/v1/plans")).json()["plans"]
    assert [(plan["name"], plan["calls_per_execution"], plan["credits_per_month"]) for plan in plans] == [
        ("guru", 20, "10000"),
        ("pro", 50, "55000"),
    ]


async def test_the_models_are_listed_with_their_prices(client: httpx.AsyncClient) -> None:
    models = (await client.get("/v1/models")).json()["models"]
    assert [integration["name"] for integration in models] == sorted(integration["name"] for integration in models)
    assert {"name": "claude-haiku-4-5", "input_usd_per_million": "1", "output_usd_per_million": "5"} in models
    assert "scripted" in [integration["name"] for integration in models]


async def test_me_tells_what_is_left_this_month(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.memory.balances["owner:ann"] = replace(BALANCE, month="2026-11")
    me = (await client.get("/v1/me")).json()
    assert (me["owner"], me["plan"], me["month"], me["credits_left"]) == ("ann", "pro", "2026-11", "54889.5")


async def test_a_new_month_starts_with_nothing_used_and_what_runs_still_reserved(
    client: httpx.AsyncClient, stage: Stage
) -> None:
    stage.memory.balances["owner:ann"] = replace(BALANCE, month="2026-10")
    me = (await client.get("/v1/me")).json()
    assert (me["credits_used"], me["credits_left"]) == ("0", "54900")


async def test_a_plan_that_runs_no_tasks_has_no_limits_and_nothing_left(client: httpx.AsyncClient, stage: Stage) -> None:
    me = (await client.get("/v1/me", headers=stage.owner("fred", plan="free"))).json()
    assert (me["plan"], me["limits"], me["credits_left"]) == ("free", None, "0")


async def test_health_needs_no_key(client: httpx.AsyncClient) -> None:
    answer = await client.get("/healthz", headers={"Authorization": ""})
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
