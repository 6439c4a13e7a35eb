"""A credential reaches the host it is for, in the place its service wants it, and no record shows it."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.journeys.conftest import KEY, Journey, asks, call, says


async def execute_call(journey: Journey, service: str, host: str, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the request that arrived, and the execution's record, of one authenticated GET."""
    await journey.serve(host)
    arguments = {"method": "GET", "url": journey.url(host), "credential": name}
    steps = (asks(call("api_call", **arguments)), says("Done.", expect=('"ok"',)))
    task = await journey.task(*steps, tools=["api_call"], integrations=[service])
    await journey.credential(task, name, service)
    record = await journey.run(task)
    assert await journey.problems() == []
    (request,) = await journey.received(host)
    return request, record


async def test_a_bearer_credential_arrives_in_the_authorization_header(journey: Journey) -> None:
    request, _ = await execute_call(journey, "lunarcrush", "lunarcrush.com", "LUNARCRUSH_API_KEY")
    assert ["authorization", f"Bearer {KEY}"] in request["headers"]


async def test_a_header_credential_arrives_in_the_services_own_header(journey: Journey) -> None:
    request, _ = await execute_call(journey, "newsapi", "newsapi.org", "NEWSAPI_KEY")
    assert ["x-api-key", KEY] in [[name.lower(), value] for name, value in request["headers"]]


async def test_a_query_credential_arrives_in_the_services_own_parameter(journey: Journey) -> None:
    request, _ = await execute_call(journey, "openweather", "api.openweathermap.org", "OPENWEATHER_API_KEY")
    assert request["query"] == f"appid={KEY}"


async def test_the_record_of_a_query_credential_shows_the_url_without_it(journey: Journey) -> None:
    _, record = await execute_call(journey, "openweather", "api.openweathermap.org", "OPENWEATHER_API_KEY")
    assert record["tool_calls"][0]["url"] == journey.url("api.openweathermap.org")


async def test_an_authenticated_call_costs_half_a_credit_beside_the_tokens(journey: Journey) -> None:
    _, record = await execute_call(journey, "lunarcrush", "lunarcrush.com", "LUNARCRUSH_API_KEY")
    turns = [
        event.body for event in [e async for e in journey.client.stream_events(record["execution_id"])] if event.kind == "turn"
    ]
    tokens = sum(round(float(turn["credits"]) * 10_000) for turn in turns)
    assert round(float(record["credits_used"]) * 10_000) - tokens == pytest.approx(5_000)


async def test_an_echoed_credential_is_redacted_for_the_model_and_in_the_record(journey: Journey) -> None:
    host = "lunarcrush.com"
    await journey.admin.serve_routes(host, [{"path": journey.path, "echo": True}])
    arguments = {"method": "GET", "url": journey.url(host), "credential": "LUNARCRUSH_API_KEY"}
    steps = (asks(call("api_call", **arguments)), says("Done.", expect=("[redacted:LUNARCRUSH_API_KEY]",)))
    task = await journey.task(*steps, tools=["api_call"], integrations=["lunarcrush"])
    await journey.credential(task, "LUNARCRUSH_API_KEY", "lunarcrush")
    record = await journey.run(task)
    assert await journey.problems() == []
    assert KEY not in str(record)
    assert KEY not in str(await journey.client.list_calls(record["execution_id"]))


async def test_a_credential_is_refused_for_another_services_host(journey: Journey) -> None:
    await journey.serve("newsapi.org")
    arguments = {"method": "GET", "url": journey.url("newsapi.org"), "credential": "LUNARCRUSH_API_KEY"}
    task = await journey.task(
        asks(call("api_call", **arguments)), says("Done."), tools=["api_call"], integrations=["lunarcrush", "newsapi"]
    )
    await journey.credential(task, "LUNARCRUSH_API_KEY", "lunarcrush")
    record = await journey.run(task)
    assert record["tool_calls"][0]["block_reason"] == "credential_host_mismatch"
    assert await journey.received("newsapi.org") == []


async def test_a_user_name_and_a_password_arrive_in_base64_and_an_echo_of_them_is_redacted(journey: Journey) -> None:
    """An imported operation, as Twilio's are: its account is in the path, and next to the token in the header."""
    host, account = "api.twilio.com", "AC0123456789abcdef0123456789abcdef"
    await journey.admin.serve_routes(host, [{"path": journey.path, "echo": True}])
    document = {
        "openapi": "3.0.1",
        "info": {"title": "Twilio"},
        "servers": [{"url": f"https://{host}"}],
        "components": {"securitySchemes": {"accountSid_authToken": {"type": "http", "scheme": "basic"}}},
        "security": [{"accountSid_authToken": []}],
        "paths": {
            journey.path: {"get": {"operationId": "look", "parameters": [{"name": "From", "in": "query", "schema": {}}]}}
        },
    }
    use = call("call_custom_tool", toolName="look", arguments={"From": account})
    steps = (asks(use), says("Done.", expect=("[redacted:TWILIO]", account)))
    task = await journey.task(*steps, tools=["call_custom_tool"], integrations=["twilio"])
    await journey.credential(task, "TWILIO", "twilio", value=f"{account}:{KEY}")
    imported = await journey.client.import_tools(task, {"spec": document})
    record = await journey.run(task)
    assert (imported["disabled"], await journey.problems()) == (0, [])
    coded = base64.b64encode(f"{account}:{KEY}".encode()).decode()
    (request,) = await journey.received(host)
    assert ["authorization", f"Basic {coded}"] in [[name.lower(), value] for name, value in request["headers"]]
    answers = str(record) + str(await journey.client.list_calls(record["execution_id"]))
    assert (KEY in answers, coded[48:] in answers) == (False, False)
