"""Access: a key is required, another's things look like none at all, and no route gives a value back."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.serving import keys
from tests.builders import build_settled_ticket

from .conftest import TASK, Stage
from .routes import ROUTES, VALUE, Ask
from .test_executions import started

CLOSED = [ask for ask in ROUTES if ask.path not in ("/", "/healthz", "/v1/join")]
OWNED = [ask for ask in ROUTES if ask.owned]


@pytest.fixture
async def execution(client: httpx.AsyncClient, stage: Stage, task: str) -> str:
    """A finished execution of ann's, with a call."""
    execution = await started(client, task)
    await client.post(f"/v1/executions/{execution}/cancel")
    stage.memory.tickets[execution] = {0: build_settled_ticket()}
    return execution


async def ask(client: httpx.AsyncClient, route: Ask, task: str, execution: str, **more: Any) -> httpx.Response:
    return await client.request(route.method, route.url(task, execution), json=route.body, **more)


NO_KEYS = ("", "Bearer", "Bearer fm_", "Basic YW5uOnB3", "Bearer fm_" + "A" * 43, "Bearer fm_é", "fm_" + "A" * 43)


@pytest.mark.parametrize("route", CLOSED, ids=str)
async def test_no_route_answers_without_a_valid_key(client: httpx.AsyncClient, task: str, execution: str, route: Ask) -> None:
    for authorization in NO_KEYS:
        answer = await ask(client, route, task, execution, headers={"Authorization": authorization.encode("latin-1")})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer"), authorization
        assert answer.headers["content-type"] == "application/problem+json"


async def test_a_key_of_an_owner_who_is_gone_is_not_valid(client: httpx.AsyncClient, stage: Stage) -> None:
    del stage.memory.owners["ann"]
    assert (await client.get("/v1/me")).status_code == 401


NO_IDS = ("a.b", "%00", "%C3%A9", "x" * 65, "-a", "a%20b", "%2e%2e", "a:b", "*")


@pytest.mark.parametrize("route", OWNED, ids=str)
async def test_what_can_be_no_id_is_answered_as_one_that_does_not_exist(client: httpx.AsyncClient, route: Ask) -> None:
    ids = re.compile(
        r"task_none|exec_none|ws_ann|job_ann|person_ann|inv_ann|key_ann|sess_ann|agent_ann|conv_ann|appr_ann|stand_ann"
    )
    missing, place = await ask(client, route, "task_none", "exec_none"), route.url("task_none", "exec_none")
    if missing.status_code != 404:
        missing = await client.request(route.method, ids.sub("none", place), json=route.body)
    for text in NO_IDS:
        answer = await client.request(route.method, ids.sub(text, place), json=route.body)
        assert (answer.status_code, answer.content) == (404, missing.content), text


@pytest.mark.parametrize("route", OWNED, ids=str)
async def test_anothers_things_look_like_none_at_all(
    client: httpx.AsyncClient, stage: Stage, task: str, execution: str, route: Ask
) -> None:
    before = (dict(stage.memory.tasks), dict(stage.memory.executions), dict(stage.memory.credentials))
    theirs = await ask(client, route, task, execution, headers=stage.owner("bob"))
    missing = await ask(client, route, "task_none", "exec_none", headers=stage.owner("bob"))
    assert theirs.status_code == missing.status_code == 404
    assert theirs.content == missing.content
    assert before == (dict(stage.memory.tasks), dict(stage.memory.executions), dict(stage.memory.credentials))


async def test_lists_hold_ones_own_things_alone(client: httpx.AsyncClient, stage: Stage, task: str, execution: str) -> None:
    bob = stage.owner("bob")
    await client.post("/v1/tasks", json=TASK, headers=bob)
    assert [task["user_id"] for task in (await client.get("/v1/tasks", headers=bob)).json()["tasks"]] == ["bob"]
    assert (await client.get("/v1/executions", headers=bob)).json() == {"executions": [], "next": None}
    assert len((await client.get("/v1/executions")).json()["executions"]) == 1


@pytest.mark.parametrize("odd", ["%00", "..", "a%2Fb", "__all__", "x" * 65, "%F0%9F%92%A9", "task_1%20"])
async def test_an_odd_id_is_one_that_does_not_exist(client: httpx.AsyncClient, odd: str) -> None:
    for path in (f"/v1/tasks/{odd}", f"/v1/executions/{odd}", f"/v1/executions/{odd}/events", f"/v1/integrations/{odd}"):
        assert (await client.get(path)).status_code == 404


UNREPEATED = ("/v1/halt", "/v1/join", "/v1/identities", "/v1/agents/{agent_id}/mcp")
"""The paths of routes that succeed once alone."""


async def test_no_route_gives_a_value_back(client: httpx.AsyncClient, stage: Stage, task: str, execution: str) -> None:
    forms = {
        VALUE,
        VALUE[::-1],
        base64.b64encode(VALUE.encode()).decode().rstrip("="),
        VALUE.encode().hex(),
        hashlib.sha256(VALUE.encode()).hexdigest(),
    }
    for round_ in range(2):
        for route in ROUTES:
            if round_ == 0 and (route.method == "DELETE" or route.path in UNREPEATED):
                continue
            stage.clock.turn(60)  # each request comes a minute after the last, and so within every rate
            answer = await ask(client, route, task, execution)
            assert answer.status_code == route.status, route
            text = answer.text + str(answer.headers)
            assert not any(form in text for form in forms), route
            assert "ciphertext" not in text
    assert not [place for place in stage.memory.credentials if not place.startswith("mcp_servers/")]  # tasks are deleted above
    assert not any(form in repr(stage.log.lines) for form in forms)


@pytest.mark.parametrize(
    "body",
    [
        {"value": VALUE + "\n", "service": "github"},
        {"value": {"nested": VALUE}, "service": "github"},
        {"value": [VALUE], "service": "github"},
        {"value": VALUE, "service": VALUE},
        {"value": VALUE, "service": "github", "auth_type": VALUE},
        {"value": VALUE, "service": "github", "auth_type": "header", "auth_header_name": VALUE + " "},
        {"value": VALUE, "service": "github", "auth_type": "query_param", "auth_param_name": VALUE + " "},
        {"value": VALUE, "service": "github", VALUE: VALUE},
        {VALUE: "github"},
        [VALUE],
        VALUE,
    ],
)
async def test_no_error_repeats_a_value(client: httpx.AsyncClient, task: str, body: object) -> None:
    answer = await client.put(f"/v1/tasks/{task}/credentials/GITHUB_TOKEN", json=body)
    assert answer.status_code == 422
    assert VALUE not in answer.text


async def test_a_value_in_the_wrong_place_is_not_repeated(client: httpx.AsyncClient, task: str) -> None:
    for path in (
        f"/v1/tasks/{task}/credentials/{VALUE}",
        f"/v1/{VALUE}",
        f"/v1/tasks/{VALUE}",
        f"/v1/executions?limit={VALUE}",
    ):
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            answer = await client.request(method, path, json={"value": VALUE, "service": "github"})
            assert answer.status_code >= 400
            assert VALUE not in answer.text


async def test_a_key_is_stored_as_its_digest_alone(stage: Stage) -> None:
    stage.owner("ann")
    assert stage.keys["ann"] not in repr(stage.memory)
    assert hashlib.sha256(stage.keys["ann"].encode()).hexdigest() in stage.memory.keys


def test_a_new_key_is_read_back_from_its_header() -> None:
    key = keys.generate_key()
    assert keys.parse_key(f"Bearer {key}") == keys.parse_key(f"bearer  {key} ") == key
    assert keys.generate_key() != key


@given(st.text())
def test_whatever_an_authorization_header_holds_is_no_exception(text: str) -> None:
    assert keys.parse_key(text) is None
