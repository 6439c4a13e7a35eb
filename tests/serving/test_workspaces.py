"""Workspaces over HTTP: what the owner's key does with them, what is refused, and how it is said."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import WORKSPACES_PER_OWNER_MAX

from .conftest import Stage
from .problems import read_problems
from .values import RULES

LONGEST = "must be 1 to 90 days, as this deployment keeps nothing longer; null for as long as the deployment keeps any"
LIMITS = {"max_credits_month": 5, "conversation_credits_max": 2, "retention_days": 30}
NEW = {"name": "Kitchen", "allowed_tools": ["http_get"], **LIMITS}
DEFAULT = derive_default_workspace("ann")


async def create(client: httpx.AsyncClient, **fields: Any) -> httpx.Response:
    return await client.post("/v1/workspaces", json={**NEW, **fields})


async def test_a_created_workspace_is_answered_with_every_field(client: httpx.AsyncClient) -> None:
    answer = await create(client, alert_url="https://hooks.example.com/a", approvals=RULES)
    body = answer.json()
    assert str(body.pop("alert_secret")).startswith("whsec_")
    assert (answer.status_code, answer.headers["location"]) == (201, f"/v1/workspaces/{body['workspace_id']}")
    assert body == {
        **NEW,
        "workspace_id": "ws_000002",
        "state": "active",
        "is_default": False,
        "max_credits_month": "5",
        "conversation_credits_max": "2",
        "alert_url": "https://hooks.example.com/a",
        "approvals": RULES,
        "created_at": "2026-11-21T12:00:00Z",
        "updated_at": "2026-11-21T12:00:00Z",
    }
    assert (await client.get(answer.headers["location"])).json() == {**body, "alert_secret": None}


async def test_the_default_workspace_is_listed_beside_the_others(client: httpx.AsyncClient) -> None:
    workspaces = (await client.get("/v1/workspaces")).json()["workspaces"]
    assert {(item["workspace_id"], item["is_default"]) for item in workspaces} == {(DEFAULT, True), ("ws_ann", False)}


async def test_pages_hold_each_workspace_once(client: httpx.AsyncClient) -> None:
    first = (await client.get("/v1/workspaces?limit=1")).json()
    second = (await client.get(f"/v1/workspaces?limit=1&cursor={first['next']}")).json()
    ids = [item["workspace_id"] for page in (first, second) for item in page["workspaces"]]
    assert (sorted(ids), second["next"]) == (sorted([DEFAULT, "ws_ann"]), None)


async def test_a_change_leaves_the_other_fields_as_they_were(client: httpx.AsyncClient, stage: Stage) -> None:
    before = (await create(client)).json()
    stage.clock.turn(5)
    after = (await client.patch(f"/v1/workspaces/{before['workspace_id']}", json={"max_credits_month": None})).json()
    assert after == {**before, "max_credits_month": None, "updated_at": "2026-11-21T12:00:05Z"}


async def test_the_default_workspace_has_settings_too(client: httpx.AsyncClient) -> None:
    await client.patch(f"/v1/workspaces/{DEFAULT}", json={"name": "Ours"})
    assert (await client.get(f"/v1/workspaces/{DEFAULT}")).json()["name"] == "Ours"


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"name": " "}, "name", "must not be empty"),
        ({"name": "x" * 101}, "name", "must be at most 100 characters, is 101"),
        ({"name": "a\nb"}, "name", "must be printable: without line breaks, control characters and lone surrogates"),
        ({"allowed_tools": ["a b"]}, "allowed_tools.0", "must be the name of a tool: 1 to 64 letters, digits, _ and -"),
        ({"allowed_tools": ["a", "a"]}, "allowed_tools.1", "is listed twice"),
        ({"max_credits_month": 0}, "max_credits_month", "must be above 0; null for no limit"),
        ({"conversation_credits_max": 0}, "conversation_credits_max", "must be above 0; null for no limit"),
        ({"conversation_credits_max": 10_000_000}, "conversation_credits_max", "must be at most 55000 on plan pro"),
        ({"max_credits_month": 10_000_000}, "max_credits_month", "must be at most 55000 on plan pro"),
        (
            {"retention_days": 0},
            "retention_days",
            LONGEST,
        ),
        ({"alert_url": "https://inside.example.com/"}, "alert_url", "must resolve, and to public addresses only"),
        ({"state": "archived"}, "state", "is not a field that is known here"),
    ],
)
async def test_a_field_that_is_not_accepted_is_named_with_its_limit(
    client: httpx.AsyncClient, stage: Stage, fields: dict[str, Any], field: str, message: str
) -> None:
    before = dict(stage.memory.workspaces)
    assert read_problems(await create(client, **fields)) == {field: message}
    assert read_problems(await client.patch("/v1/workspaces/ws_ann", json=fields)) == {field: message}
    assert stage.memory.workspaces == before


async def test_an_address_for_alerts_must_be_https(client: httpx.AsyncClient) -> None:
    assert list(read_problems(await create(client, alert_url="ftp://hooks.example.com/"))) == ["alert_url"]


async def test_an_archived_workspace_is_not_changed_until_it_is_restored(client: httpx.AsyncClient) -> None:
    assert (await client.post("/v1/workspaces/ws_ann/archive")).json()["state"] == "archived"
    refused = await client.patch("/v1/workspaces/ws_ann", json={"name": "Other"})
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "the workspace is archived: nothing in it is started or changed until it is restored",
    )
    assert (await client.post("/v1/workspaces/ws_ann/restore")).json()["state"] == "active"
    assert (await client.patch("/v1/workspaces/ws_ann", json={"name": "Other"})).status_code == 200


async def test_to_archive_twice_changes_nothing(client: httpx.AsyncClient) -> None:
    first, second = [await client.post("/v1/workspaces/ws_ann/archive") for _ in range(2)]
    assert first.json() == second.json()


async def test_the_default_workspace_is_not_archived(client: httpx.AsyncClient) -> None:
    answer = await client.post(f"/v1/workspaces/{DEFAULT}/archive")
    assert (answer.status_code, answer.json()["detail"]) == (409, "the default workspace cannot be archived")


async def test_an_owner_has_a_bounded_number_of_workspaces(client: httpx.AsyncClient, stage: Stage) -> None:
    for _ in range(WORKSPACES_PER_OWNER_MAX - 2):
        assert (await create(client)).status_code == 201
    stage.clock.turn(60)
    answer = await create(client)
    assert (answer.status_code, answer.json()["detail"]) == (409, "an owner may have at most 50 workspaces")


async def test_a_workspace_of_somebody_else_is_answered_as_one_that_does_not_exist(
    client: httpx.AsyncClient, stage: Stage
) -> None:
    for path in ("/v1/workspaces/ws_ann", f"/v1/workspaces/{DEFAULT}"):
        theirs = await client.get(path, headers=stage.owner("bob"))
        missing = await client.get("/v1/workspaces/ws_none", headers=stage.owner("bob"))
        assert (theirs.status_code, theirs.content) == (404, missing.content)
