"""The tables over HTTP: services, tools, plans, and who asks."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import httpx

from ferryman.domain.credits.balance import CreditBalance

from .conftest import Stage

BALANCE = CreditBalance(id="owner:ann", credits_used=Decimal("10.5"), credits_reserved=Decimal(100))


async def test_the_catalog_is_listed_by_id(client: httpx.AsyncClient) -> None:
    listed = (await client.get("/v1/integrations")).json()["integrations"]
    assert [integration["id"] for integration in listed] == sorted(integration["id"] for integration in listed)
    integration = (await client.get("/v1/integrations/openweather")).json()
    assert integration in listed
    assert (integration["status"], integration["default_auth_param"]) == ("approved", "appid")
    assert (await client.get("/v1/integrations/nowhere")).status_code == 404


async def test_the_tools_are_shown_as_the_model_sees_them(client: httpx.AsyncClient) -> None:
    tools = (await client.get("/v1/tools")).json()["tools"]
    names = ["api_call", "call_custom_tool", "delete_tool_cluster", "http_get", "http_post", "import_openapi_tools", "webhook"]
    assert sorted(tool["name"] for tool in tools) == names
    assert all(set(tool) == {"name", "description", "input_schema"} for tool in tools)


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
