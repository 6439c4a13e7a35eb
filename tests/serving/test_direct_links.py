"""Direct links over HTTP: given where the operator allows them, by who may manage, and told in the history."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from ferryman.domain.workspaces.member import Right, Role
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.files import LINKS_RATE

from .conftest import Stage, create_app

Client = httpx.AsyncClient


async def ask(client: Client, key: str = "notes.md", *, headers: dict[str, str] | None = None, **body: Any) -> httpx.Response:
    return await client.post(f"/v1/file-links/{quote(key, safe='')}", json=body or None, headers=headers)


async def test_a_direct_link_downloads_the_file_until_its_time_is_over(client: Client, stage: Stage):
    answer = await ask(client, expires_in_s=60)
    link = answer.json()
    assert (answer.status_code, link["version_bound"], answer.headers["cache-control"]) == (200, True, "no-store")
    assert stage.objects.follow(link["url"]) == b"Notes."
    stage.clock.turn(timedelta(seconds=61))
    with pytest.raises(PermissionError):
        stage.objects.follow(link["url"])


async def test_unless_the_operator_allows_them_there_are_none(stage: Stage):
    transport = httpx.ASGITransport(app=create_app(replace(stage.deps(), direct_links=False)))
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=stage.owner("ann")) as client:
        refused = await ask(client)
        entries = (await client.get("/v1/audit-entries")).json()["entries"]
    assert (refused.status_code, "no direct links" in refused.json()["detail"], entries) == (404, True, [])


@pytest.mark.parametrize(
    ("role", "scopes", "status"),
    [
        (Role.ADMIN, tuple(Right), 200),
        (Role.OPERATOR, tuple(Right), 403),
        (Role.VIEWER, tuple(Right), 403),
        (Role.ADMIN, (Right.READ,), 403),
    ],
)
async def test_who_may_manage_gives_files_away(
    client: Client, stage: Stage, role: Role, scopes: tuple[Right, ...], status: int
):
    assert (await ask(client, headers=stage.member(role, scopes=scopes))).status_code == status


async def test_the_history_says_who_asked_for_which_file_and_nothing_says_the_link(client: Client, stage: Stage):
    url = (await ask(client, headers=stage.member())).json()["url"]
    entries = (await client.get("/v1/audit-entries")).json()["entries"]
    assert [(entry["action"], entry["targets"], entry["done"]) for entry in entries] == [
        ("createDirectLink", ["notes.md"], True)
    ]
    assert entries[0]["person_id"]
    signature = url.rpartition("=")[2]
    assert not any(signature in str(place) for place in (entries, stage.log.lines, stage.memory.audit))


async def test_a_link_that_was_not_given_leaves_no_entry(client: Client, stage: Stage, monkeypatch: pytest.MonkeyPatch):
    assert (await ask(client, "other.md")).status_code == 404
    assert (await client.get("/v1/audit-entries")).json()["entries"] == []


async def test_a_link_whose_fate_is_unknown_is_in_the_history(client: Client, stage: Stage, monkeypatch: pytest.MonkeyPatch):
    async def fail(*_: Any, **__: Any) -> Any:
        raise UnavailableError("lost")

    monkeypatch.setattr(stage.files, "link", fail)
    assert (await ask(client)).status_code == 503
    entries = (await client.get("/v1/audit-entries")).json()["entries"]
    assert [(entry["action"], entry["done"]) for entry in entries] == [("createDirectLink", False)]


@pytest.mark.parametrize(
    "key", ["../../ws_bob/notes.md", "/notes.md", "a//b", "..\\notes.md", "e\u0301", "x" * 513, "%2e%2e/notes.md"]
)
async def test_a_key_that_is_not_as_files_are_kept_is_linked_to_by_nobody(client: Client, stage: Stage, key: str):
    stage.owner("bob")
    assert (await ask(client, key)).status_code == 404


async def test_a_file_of_another_owner_is_linked_to_by_nobody_else(client: Client, stage: Stage):
    bob = stage.owner("bob")
    await client.put("/v1/files/mine.md", content=b"x")
    for headers in (bob, {"ferryman-workspace": "ws_ann"}):
        assert (await ask(client, "mine.md", headers=headers)).status_code == 404


@pytest.mark.parametrize(
    "body", [{"expires_in_s": 901}, {"expires_in_s": 0}, {"expires_in_s": "60"}, {"expires_in_s": 1.5}, {"a": 1}]
)
async def test_a_lifetime_that_is_none_is_refused(client: Client, body: dict[str, Any]):
    assert (await ask(client, **body)).status_code == 422


async def test_links_are_asked_for_one_after_the_other(client: Client):
    statuses = [(await ask(client)).status_code for _ in range(LINKS_RATE.at_once + 1)]
    assert statuses == [*[200] * LINKS_RATE.at_once, 429]
