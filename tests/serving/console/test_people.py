"""The page of people: members, invitations, keys and identities, and the forms that create and end them."""

from __future__ import annotations

import re

import httpx
from fastapi import FastAPI

from ferryman.domain.workspaces.member import Role
from tests.serving.conftest import Stage

from .conftest import Browser
from .readback import find_section


async def test_what_members_write_is_escaped(browser: Browser, client: httpx.AsyncClient) -> None:
    await client.post("/v1/invitations", json={"name": "<script>alert(1)</script>", "role": "viewer"})
    section = find_section((await browser.open("/console/people")).text, "invitations")
    assert "<script" not in section
    assert "&lt;script&gt;" in section


async def test_an_invitation_is_withdrawn(browser: Browser, client: httpx.AsyncClient) -> None:
    await browser.send("/console/people", {"do": "withdraw", "id": "inv_ann"})
    stored = (await client.get("/v1/invitations")).json()["invitations"]
    assert "inv_ann" not in {item["invitation_id"] for item in stored}


async def test_an_api_key_is_revoked(browser: Browser, client: httpx.AsyncClient) -> None:
    key = (await client.post("/v1/keys", json={"name": "laptop"})).json()["key_id"]
    assert key in (await browser.open("/console/people")).text
    await browser.send("/console/people", {"do": "revoke-key", "id": key})
    assert key not in (await browser.open("/console/people")).text.split('id="audit"')[0]


async def test_what_belongs_to_others_is_not_there(browser: Browser) -> None:
    assert (await browser.send("/console/people", {"do": "withdraw", "id": "inv_bob"})).status_code == 404


async def test_the_token_of_an_invitation_is_shown_once(browser: Browser, client: httpx.AsyncClient) -> None:
    form = {"do": "invite", "name": "Cem", "role": "viewer", "once": "once"}
    page = await browser.send("/console/people", form)
    assert (page.status_code, len(re.findall(r">fi_[A-Za-z0-9_-]{43}<", page.text))) == (200, 1)
    assert "cannot be shown again" in (await browser.send("/console/people", form)).text
    assert not re.search(r"fi_[A-Za-z0-9_-]{43}", (await browser.open("/console/people")).text)
    stored = (await client.get("/v1/invitations")).json()["invitations"]
    assert [(item["name"], item["role"]) for item in stored if item["name"] == "Cem"] == [("Cem", "viewer")]


async def test_a_key_has_the_scopes_whose_boxes_are_ticked_and_opens_the_api(browser: Browser, app: FastAPI) -> None:
    form: dict[str, str | list[str]] = {
        **{"do": "create-key", "name": "reader", "tools": "", "expires_in_days": "7", "once": "once"},
        "scopes": ["read", "run"],
    }
    page = await browser.send("/console/people", form)
    (key,) = re.findall(r">(fm_[A-Za-z0-9_-]{43})<", page.text)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        me = (await http.get("/v1/me", headers={"Authorization": f"Bearer {key}"})).json()
    assert (me["rights"], me["key_expires_at"] is None) == (["read", "run"], False)


async def test_what_is_wrong_with_a_key_is_said_in_its_form(browser: Browser) -> None:
    page = await browser.send("/console/people", {"do": "create-key", "name": "x", "expires_in_days": "soon", "tools": ""})
    assert page.status_code == 422
    assert re.search(r'<details id="new-key" open>.*?value="soon"', page.text, re.DOTALL)


async def test_a_member_is_changed(browser: Browser, client: httpx.AsyncClient, stage: Stage) -> None:
    stage.member(Role.VIEWER)
    person = list(stage.memory.people)[-1]
    form = {"do": "change", "role": "operator", "approves": "true", "max_credits_month": "50"}
    assert (await browser.send(f"/console/people/{person}", form)).status_code == 303
    member = (await client.get(f"/v1/members/{person}")).json()
    assert (member["role"], member["approves"], member["max_credits_month"]) == ("operator", True, "50")


async def test_a_member_is_removed_after_the_box_was_ticked(browser: Browser, client: httpx.AsyncClient, stage: Stage) -> None:
    stage.member(Role.VIEWER)
    person = list(stage.memory.people)[-1]
    form = {"do": "remove", "executions": "take_over"}
    assert (await browser.send(f"/console/people/{person}", form)).status_code == 422
    removed = await browser.send(f"/console/people/{person}", {**form, "sure": "true"})
    assert "/jobs/" in removed.headers["location"]
    assert (await client.get(f"/v1/members/{person}")).status_code == 404


async def test_a_viewer_is_told_the_right_that_is_missing(browser: Browser, stage: Stage) -> None:
    await browser.sign_in(stage.member(Role.VIEWER)["Authorization"].removeprefix("Bearer "))
    page = await browser.send("/console/people", {"do": "invite", "name": "Cem", "role": "viewer", "once": "once"})
    assert (page.status_code, "needs the right manage" in page.text) == (403, True)


async def test_keys_of_everybody_are_listed_for_those_who_manage(browser: Browser, stage: Stage) -> None:
    stage.member(Role.VIEWER)
    assert '<th scope="col">Person</th>' in (await browser.open("/console/people?everybody=1")).text
    await browser.sign_in(stage.member(Role.VIEWER)["Authorization"].removeprefix("Bearer "))
    assert (await browser.open("/console/people?everybody=1")).status_code == 403


async def test_an_identity_needs_an_authorization_server(browser: Browser) -> None:
    page = await browser.send("/console/people", {"do": "link", "access_token": "secret-token", "once": "once"})
    assert (page.status_code in (409, 422), "secret-token" in page.text) == (True, False)
