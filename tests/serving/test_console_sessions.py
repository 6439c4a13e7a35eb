"""Sessions of the console and sign-in links over HTTP: who sees and ends which, and where a link's code is."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi import FastAPI

from ferryman.domain.console_sessions.link import LINK_LIFETIME
from ferryman.domain.console_sessions.session import LIFETIME, build_session
from ferryman.domain.workspaces.member import Right, Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.clock import START
from ferryman.serving import keys

from .conftest import Stage
from .test_api_keys import create, use

HERE = derive_default_workspace("ann")
LINKS, SESSIONS = "/v1/sign-in-links", "/v1/sessions"


def sign_in(stage: Stage, headers: dict[str, str], name: str) -> None:
    """Have a session of the API key in `headers`."""
    digest = keys.digest_key(headers["Authorization"].removeprefix("Bearer "))
    session = build_session(name, stage.memory.keys[digest], digest, browser="Browser/1.0", now=stage.clock.now())
    stage.memory.console_sessions[name] = session


async def list_names(client: httpx.AsyncClient, headers: dict[str, str], query: str = "") -> list[str]:
    answer = await client.get(SESSIONS + query, headers=headers)
    assert answer.status_code == 200, answer.text
    return [session["session_id"] for session in answer.json()["sessions"]]


def read_code(answer: httpx.Response) -> str:
    return parse_qs(urlsplit(answer.json()["url"]).query)["code"][0]


async def test_a_link_leads_to_the_console_of_this_api_with_a_code(client: httpx.AsyncClient, stage: Stage) -> None:
    answer = await client.post(LINKS, headers=stage.member())
    assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
    assert answer.json()["url"].startswith("https://ferryman.example.com/console/enter?code=")
    assert keys.is_secret(read_code(answer))
    assert answer.json()["expires_at"] == (START + LINK_LIFETIME).isoformat().replace("+00:00", "Z")


async def test_a_link_of_an_api_that_knows_no_url_of_its_own_leads_where_the_request_went(
    client: httpx.AsyncClient, app: FastAPI, stage: Stage
) -> None:
    object.__setattr__(app.state.deps, "client_document_url", "")
    object.__setattr__(app.state.deps, "is_local", True)
    answer = await client.post(LINKS, headers=stage.member())
    assert answer.json()["url"].startswith("http://api.test/console/enter?code=")


async def test_a_link_signs_in_with_the_key_that_made_it(client: httpx.AsyncClient, app: FastAPI, stage: Stage) -> None:
    headers = stage.member(Role.VIEWER)
    code = read_code(await client.post(LINKS, headers=headers))
    link = await app.state.deps.console_sessions.take_link(keys.digest_key(code), now=stage.clock.now())
    assert link.key_digest == keys.digest_key(headers["Authorization"].removeprefix("Bearer "))


async def test_the_code_of_a_link_is_in_the_answer_alone(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member() | {"Idempotency-Key": '"once"'}
    first, again = [await client.post(LINKS, headers=headers) for _ in range(2)]
    assert again.json() == {**first.json(), "url": None}
    assert read_code(first) not in repr(stage.memory) + repr(stage.log.lines) + (await client.get("/v1/audit-entries")).text
    assert len(stage.memory.sign_in_links) == 1


async def test_who_made_a_link_is_in_the_history(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.VIEWER)
    await client.post(LINKS, headers=headers)
    entry = (await client.get("/v1/audit-entries")).json()["entries"][0]
    person = (await client.get("/v1/me", headers=headers)).json()["person_id"]
    assert (entry["action"], entry["person_id"], entry["done"]) == ("createSignInLink", person, True)


async def test_a_key_that_is_narrowed_to_tools_signs_nobody_in(client: httpx.AsyncClient, stage: Stage) -> None:
    narrow = await create(client, stage.member(), tools=["calculator"])
    assert (await client.post(LINKS, headers=use(narrow))).status_code == 403
    assert stage.memory.sign_in_links == {}


async def test_a_session_is_described_without_what_it_is_stored_under(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member()
    sign_in(stage, headers, "sess_mine")
    me = (await client.get("/v1/me", headers=headers)).json()
    assert (await client.get(SESSIONS, headers=headers)).json()["sessions"] == [
        {
            "session_id": "sess_mine",
            "person_id": me["person_id"],
            "key_id": me["key_id"],
            "workspace_id": HERE,
            "browser": "Browser/1.0",
            "created_at": START.isoformat().replace("+00:00", "Z"),
            "expires_at": (START + LIFETIME).isoformat().replace("+00:00", "Z"),
        }
    ]


async def test_everybody_lists_their_own_sessions_and_a_manager_those_of_all(client: httpx.AsyncClient, stage: Stage) -> None:
    operator, admin = stage.member(Role.OPERATOR), stage.member(Role.ADMIN)
    sign_in(stage, operator, "sess_operator")
    sign_in(stage, admin, "sess_admin")
    assert await list_names(client, operator) == ["sess_operator"]
    assert (await client.get(f"{SESSIONS}?everybody=true", headers=operator)).status_code == 403
    assert await list_names(client, admin, "?everybody=true") == ["sess_admin", "sess_ann", "sess_operator"]


async def test_sessions_of_the_owners_own_key_are_for_that_key_alone(client: httpx.AsyncClient, stage: Stage) -> None:
    owner = stage.owner("ann")
    sign_in(stage, owner, "sess_owner")
    assert await list_names(client, owner) == ["sess_owner"]
    assert await list_names(client, owner | {"Ferryman-Workspace": "ws_ann"}) == ["sess_owner"]
    for headers in (stage.member(Role.ADMIN), use(await create(client))):
        assert "sess_owner" not in await list_names(client, headers, "?everybody=true")
        assert (await client.delete(f"{SESSIONS}/sess_owner", headers=headers)).status_code == 404
    assert (await client.delete(f"{SESSIONS}/sess_owner", headers=owner)).status_code == 204


async def test_a_session_that_is_over_is_not_listed(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member()
    sign_in(stage, headers, "sess_mine")
    stage.clock.turn(LIFETIME.total_seconds())
    assert await list_names(client, headers) == []


async def test_a_session_of_somebody_else_is_answered_as_none(client: httpx.AsyncClient, stage: Stage) -> None:
    mine, theirs = stage.member(Role.OPERATOR), stage.member(Role.OPERATOR)
    sign_in(stage, theirs, "sess_theirs")
    refused, none = [await client.delete(f"{SESSIONS}/{name}", headers=mine) for name in ("sess_theirs", "sess_none")]
    assert (refused.status_code, refused.content, refused.headers) == (404, none.content, none.headers)
    assert (await client.delete(f"{SESSIONS}/sess_theirs", headers=stage.member(Role.ADMIN))).status_code == 204
    assert "sess_theirs" not in stage.memory.console_sessions


async def test_a_key_that_was_made_for_less_ends_its_own_sessions_alone(client: httpx.AsyncClient, stage: Stage) -> None:
    whole = stage.member(Role.OPERATOR)
    narrow = use(await create(client, whole, scopes=[Right.READ]))
    for headers, name in ((whole, "sess_whole"), (narrow, "sess_narrow")):
        sign_in(stage, headers, name)
    assert (await client.delete(f"{SESSIONS}/sess_whole", headers=narrow)).status_code == 403
    assert (await client.delete(f"{SESSIONS}/sess_none", headers=narrow)).status_code == 403
    assert (await client.delete(f"{SESSIONS}/sess_narrow", headers=narrow)).status_code == 204


async def test_a_revoked_key_has_no_sessions_any_more(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.OPERATOR)
    second = await create(client, headers)
    sign_in(stage, use(second), "sess_second")
    await client.post(LINKS, headers=use(second))
    await client.delete(f"/v1/keys/{second.json()['key_id']}", headers=headers)
    assert await list_names(client, headers) == []
    assert stage.memory.sign_in_links == {}


@pytest.mark.parametrize("days", [None, 1])
async def test_a_link_of_a_key_that_ends_soon_ends_with_it(client: httpx.AsyncClient, stage: Stage, days: int | None) -> None:
    key = await create(client, stage.member(), **({} if days is None else {"expires_in_days": days}))
    stage.clock.turn((timedelta(days=1) - timedelta(minutes=1)).total_seconds())
    answer = await client.post(LINKS, headers=use(key))
    ends = stage.clock.now() + (LINK_LIFETIME if days is None else timedelta(minutes=1))
    assert answer.json()["expires_at"] == ends.isoformat().replace("+00:00", "Z")
