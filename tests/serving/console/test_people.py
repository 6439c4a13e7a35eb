"""The people's page: who is here, and what its forms end."""

from __future__ import annotations

import httpx

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
