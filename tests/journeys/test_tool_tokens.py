"""Tools that log in: one token for all that need it, another after a 401, and none of it anywhere that is kept."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.journeys.conftest import KEY, Journey, asks, call, says

HOST, NAME, SERVICE = "api.linear.app", "LINEAR_TOKEN", "linear"
SECRET = f"{{{{secrets.{NAME}}}}}"
CALLS = 4
CLIENT = {
    "type": "oauth2_client_credentials",
    "token_url": f"https://{HOST}/token",
    "client_id": "desk",
    "client_secret": SECRET,
}
LOGIN = {
    "type": "token_exchange",
    "request": {"url": f"https://{HOST}/login", "body": {"username": "desk", "password": SECRET}},
    "extract": {"token_path": "$.session.id", "expires_path": "$.session.lives"},
    "apply": {"name": "X-Session", "format": "{token}"},
}
RULES = {"clients": {"desk": KEY}, "users": {"desk": KEY}, "delay_s": 0.3}


async def logging_in(journey: Journey, auth: dict[str, Any], *steps: Any) -> str:
    """Return a task with one tool that logs in at a server that knows no token yet."""
    await journey.admin.serve_oauth(HOST, RULES)
    tool = {"kind": "http", "name": "ask", "url": f"https://{HOST}/resource?n={{n?}}", "auth": auth}
    task = await journey.task(*steps, tools=[tool, "http_get"], integrations=[SERVICE])
    await journey.credential(task, NAME, SERVICE)
    return task


async def nothing_is_shown(journey: Journey, *records: dict[str, Any]) -> None:
    """Assert that no token which the service issued is in any document, log or prompt."""
    issued = (await journey.admin.read_oauth(HOST))["issued"]
    assert issued
    documents = [json.dumps(record) for record in (*records, *await journey.admin.list_model_requests())]
    documents += [json.dumps(await journey.client.list_calls(record["execution_id"])) for record in records]
    documents += [path.read_text(errors="replace") for path in journey.stack["data"].rglob("*.log")]
    assert [token for token in issued if any(token in text for text in documents)] == []


async def test_many_calls_and_executions_at_once_share_one_token(journey: Journey) -> None:
    steps = (asks(*[call("ask", n=str(number)) for number in range(CALLS)]), says("Done.", expect=("yours",)))
    task = await logging_in(journey, CLIENT, *steps)
    records = await asyncio.gather(journey.run(task), journey.run(task))
    assert [row["response_status"] for record in records for row in record["tool_calls"]] == [200] * 2 * CALLS
    counts = (await journey.admin.read_oauth(HOST))["counts"]
    assert counts == {"client_credentials": 1, "resource": 2 * CALLS}
    await nothing_is_shown(journey, *records)


@pytest.mark.parametrize(("auth", "grant"), [(CLIENT, "client_credentials"), (LOGIN, "login")], ids=["oauth", "login"])
async def test_a_token_that_is_no_good_any_more_is_fetched_again_and_the_call_sent_once_more(
    journey: Journey, auth: dict[str, Any], grant: str
) -> None:
    task = await logging_in(journey, auth, asks(call("ask")), says("Done.", expect=("yours",)))
    await journey.run(task)
    await journey.admin.serve_oauth(HOST, RULES)  # it has forgotten every token
    record = await journey.run(task)
    assert await journey.problems() == []
    assert (await journey.admin.read_oauth(HOST))["counts"] == {"resource 401": 1, grant: 1, "resource": 1}
    assert len(record["tool_calls"]) == 1
    await nothing_is_shown(journey, record)


async def test_a_token_that_another_tool_meets_is_redacted_too(journey: Journey) -> None:
    look = call("http_get", url=f"https://{HOST}/sessions")
    steps = (asks(call("ask")), asks(look), says("Done.", expect=('{"sessions":["[redacted:token]',)))
    task = await logging_in(journey, CLIENT, *steps)
    record = await journey.run(task)
    assert await journey.problems() == []
    assert [row["response_status"] for row in record["tool_calls"]] == [200, 200]
    await nothing_is_shown(journey, record)


async def test_a_token_that_the_model_says_does_not_leave(journey: Journey) -> None:
    task = await logging_in(journey, CLIENT, asks(call("ask")), says("Done."))
    await journey.run(task)
    (token,) = (await journey.admin.read_oauth(HOST))["issued"]
    steps = [asks(call("http_get", url=f"https://{HOST}/resource?n={token}")), says("Done.")]
    await journey.admin.set_script(journey.name, {"steps": steps})
    record = await journey.run(task)
    assert [row["block_reason"] for row in record["tool_calls"]] == ["credential_leak"]
    assert (await journey.admin.read_oauth(HOST))["counts"] == {"client_credentials": 1, "resource": 1}


async def test_a_login_that_fails_is_told_without_what_was_sent(journey: Journey) -> None:
    task = await logging_in(
        journey,
        {**LOGIN, "request": {**LOGIN["request"], "url": f"https://{HOST}/token/echo-error"}},
        asks(call("ask")),
        says("Done.", expect=("Error: ",)),
    )
    record = await journey.run(task)
    assert await journey.problems() == []
    assert record["tool_calls"][0]["blocked"]
    assert KEY not in json.dumps([record, await journey.client.list_calls(record["execution_id"])])
