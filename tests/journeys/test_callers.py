"""Functions answer the callers of the table alone: a forged, borrowed or missing identity token does nothing."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from ferryman.stack import environment
from tests.journeys.conftest import Journey, asks, call, says

HOST = "api.coingecko.com"
POSTED = [
    row["name"] for row in environment.load_functions() if row["callers"] != ["anyone"] and row["trigger"]["type"] == "http"
]
"""Functions that answer requests, though not anybody's: all of the table but `api`, and `on_execution`, which events call."""

CALL = {"execution": "exec_1", "call": 0, "epoch": 1, "task": "task_1", "owner": "ann"}
"""What the orchestrator asks of a tool function."""


def part(value: Mapping[str, Any] | bytes) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def forged(audience: str, email: str) -> str:
    """Return a token with every claim right, signed by nobody."""
    now = int(time.time())
    times = {"iat": now, "exp": now + 3600}
    claims = {"iss": "https://accounts.google.com", "aud": audience, "email": email, "email_verified": True, **times}
    return f"{part({'alg': 'RS256', 'kid': '1', 'typ': 'JWT'})}.{part(claims)}.{part(b'x' * 256)}"


async def token(journey: Journey, function: str, audience: str) -> str:
    """Return a genuine token of the account that `function` runs as."""
    identity = next(row["identity"] for row in environment.load_functions() if row["name"] == function)
    return await journey.admin.create_token(environment.build_account(identity, journey.stack["project"]), audience)


async def post(url: str, bearer: str | None, body: Mapping[str, Any]) -> httpx.Response:
    headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
    async with httpx.AsyncClient(trust_env=False) as http:
        return await http.post(url, json=body, headers=headers)


@pytest.mark.parametrize("function", POSTED)
async def test_a_call_without_a_token_is_refused(journey: Journey, function: str) -> None:
    body = {"execution": "exec_1", "slice": 0, "waits": 0} if function == "orchestrator" else CALL
    answer = await post(journey.stack["functions"][function], None, body)
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")


@pytest.mark.parametrize("path", ["fire", "sweep"])
async def test_a_timer_without_a_token_is_refused(journey: Journey, path: str) -> None:
    answer = await post(f"{journey.stack['functions']['orchestrator']}/{path}", None, {"at": 0})
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")


async def test_a_token_signed_by_nobody_is_refused(journey: Journey) -> None:
    url = journey.stack["functions"]["http_get"]
    bearer = forged(url, f"ferryman-orchestrator@{journey.stack['project']}.iam.gserviceaccount.com")
    assert (await post(url, bearer, CALL)).status_code == 401


async def test_a_token_for_another_function_is_refused(journey: Journey) -> None:
    functions = journey.stack["functions"]
    bearer = await token(journey, "orchestrator", functions["api_call"])
    assert (await post(functions["http_get"], bearer, CALL)).status_code == 401


async def test_a_token_of_an_account_that_may_not_call_is_refused(journey: Journey) -> None:
    url = journey.stack["functions"]["orchestrator"]
    bearer = await token(journey, "api", url)
    assert (await post(url, bearer, {"execution": "exec_1", "slice": 0, "waits": 0})).status_code == 403


async def test_even_the_orchestrator_cannot_send_a_call_twice(journey: Journey) -> None:
    await journey.serve(HOST)
    task = await journey.task(
        asks(call("http_get", url=journey.url(HOST))), says("Done."), tools=["http_get"], integrations=["coingecko"]
    )
    record = await journey.run(task)
    url = journey.stack["functions"]["http_get"]
    bearer = await token(journey, "orchestrator", url)
    answer = await post(
        url,
        bearer,
        {**CALL, "execution": record["execution_id"], "task": task, "owner": (await journey.client.get_me())["owner"]},
    )
    assert answer.status_code == 409
    assert len(await journey.received(HOST)) == 1
