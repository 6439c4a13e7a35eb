"""A token that is renewed while a call waits for a person: the approved call is sent with it, and nobody is asked again."""

from __future__ import annotations

from typing import Any

import httpx

from tests.journeys.conftest import Journey, asks, call, says
from tests.journeys.test_approvals import await_question
from tests.journeys.test_consent import HOST, ISSUER, NAME, sought, visit
from tests.journeys.test_tool_tokens import CLIENT, RULES, SERVICE
from tests.journeys.test_tool_tokens import HOST as LOGIN_HOST
from tests.journeys.test_tool_tokens import NAME as LOGIN_NAME

BODY = {"title": "Night ferry"}
ALWAYS = [{"mode": "always"}]
LAST = says("Done.", expect=('"resource"',))


async def approve(journey: Journey, execution: str) -> dict[str, Any]:
    """Approve what the execution waits for, and return its record once it has ended."""
    question = await await_question(journey, execution)
    await journey.client.decide_approval(question["approval_id"], "approve", question["digest"])
    return await journey.await_end(execution)


async def count_approvals(journey: Journey, execution: str) -> int:
    return len([row async for row in journey.client.iterate_approvals(execution=execution)])


async def test_a_connected_services_token_is_renewed_between_question_and_send(journey: Journey) -> None:
    await journey.admin.serve_oauth(HOST, {"consent": "allow", "iss": ISSUER, "access_s": 0})
    uses = call("api_call", method="POST", url=f"https://{HOST}/resource", credential=NAME, body=BODY)
    task = await journey.task(asks(uses), LAST, tools=["api_call"], integrations=["calendar"], approvals=ALWAYS)
    begun = await journey.client.begin_connection(task, {"service": "calendar", "redirect_uri": "http://127.0.0.1:9/back"})
    query = httpx.URL(await visit(journey.stack, begun["authorize_url"])).params
    await journey.client.finish_connection(task, query["state"], query["code"], query["iss"])
    execution = str((await journey.client.start_execution(task))["execution_id"])
    await await_question(journey, execution)
    (waiting,) = await journey.client.list_credentials(task)
    await journey.admin.change_oauth(HOST, {"access_s": 3600})

    record = await approve(journey, execution)

    assert (record["status"], record["output"], await journey.problems()) == ("completed", "Done.", [])
    report = await journey.admin.read_oauth(HOST)
    assert (report["counts"]["resource"], report["counts"].get("resource 401", 0)) == (1, 0)
    (sent,) = await journey.client.list_credentials(task)
    assert (sent["version"] - waiting["version"], await count_approvals(journey, execution)) == (1, 1)
    assert not [token for token in sought(report) if token in str((record, waiting, sent))]


async def test_a_tools_token_that_its_service_has_forgotten_is_fetched_again_for_the_approved_call(journey: Journey) -> None:
    await journey.admin.serve_oauth(LOGIN_HOST, RULES)
    url = f"https://{LOGIN_HOST}/resource"
    tool = {"kind": "http", "name": "book", "method": "POST", "url": url, "body": {"title": "{{title}}"}, "auth": CLIENT}
    task = await journey.task(asks(call("book", **BODY)), LAST, tools=[tool], integrations=[SERVICE], approvals=ALWAYS)
    await journey.credential(task, LOGIN_NAME, SERVICE)
    execution = str((await journey.client.start_execution(task))["execution_id"])
    await await_question(journey, execution)
    before = (await journey.admin.read_oauth(LOGIN_HOST))["counts"]
    await journey.admin.serve_oauth(LOGIN_HOST, RULES)  # it has forgotten every token

    record = await approve(journey, execution)

    assert (record["status"], record["output"], await journey.problems()) == ("completed", "Done.", [])
    counts = (await journey.admin.read_oauth(LOGIN_HOST))["counts"]
    assert (before, counts) == ({"client_credentials": 1}, {"resource 401": 1, "client_credentials": 1, "resource": 1})
    assert await count_approvals(journey, execution) == 1
