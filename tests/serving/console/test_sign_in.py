"""Signing in and out of the console, and what a session's cookie is worth."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from fastapi import FastAPI

from ferryman.serving.keys import generate_code
from tests.serving.conftest import Stage

from .conftest import SAME_SITE, Browser


async def test_a_page_is_shown_to_who_is_signed_in(browser: Browser) -> None:
    page = await browser.open("/console")
    assert page.status_code == 200
    assert "<h1>Overview</h1>" in page.text


async def test_who_is_not_signed_in_is_asked_to(app: FastAPI) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        page = await http.get("/console/sessions")
    assert 'value="/console/sessions"' in page.text
    assert "API key" in page.text


async def test_a_wrong_key_signs_nobody_in(app: FastAPI) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        answer = await Browser(http=http).sign_in("fm_" + "a" * 43)
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


async def test_no_script_reads_the_cookie_and_no_other_site_sends_it(app: FastAPI, stage: Stage) -> None:
    key = stage.owner("ann")["Authorization"].removeprefix("Bearer ")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        cookie = (await Browser(http=http).sign_in(key)).headers["set-cookie"]
    assert cookie.startswith("__Host-ferryman=")
    assert {"HttpOnly", "Secure", "SameSite=strict", "Path=/", "Max-Age=43200"} <= {item.strip() for item in cookie.split(";")}


async def test_a_session_is_over_after_twelve_hours(browser: Browser, stage: Stage) -> None:
    stage.clock.turn(timedelta(hours=12))
    assert "Sign in to Ferryman" in (await browser.open("/console")).text


async def test_a_form_needs_the_token_of_its_page(browser: Browser) -> None:
    answer = await browser.http.post("/console", data={"do": "sign-out", "token": "0" * 64}, headers=SAME_SITE)
    assert answer.status_code == 403


async def test_a_form_of_another_site_is_refused(browser: Browser) -> None:
    answer = await browser.http.post("/console", data={"do": "sign-out"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403


async def test_a_session_that_was_signed_out_is_over_on_the_server(browser: Browser) -> None:
    cookies = dict(browser.http.cookies)
    await browser.send("/console", {"do": "sign-out"})
    browser.http.cookies.update(cookies)
    assert "Sign in to Ferryman" in (await browser.open("/console")).text


async def test_a_revoked_key_ends_its_sessions(browser: Browser, stage: Stage) -> None:
    stage.memory.keys.clear()
    assert "no longer valid" in (await browser.open("/console")).text


async def test_a_part_of_a_page_comes_as_a_tree(browser: Browser) -> None:
    answer = await browser.open("/console", **{"Ferryman-Parts": "numbers,nothing"})
    parts = answer.json()["parts"]
    assert list(parts) == ["numbers"]
    assert parts["numbers"][0] == "section"


@pytest.mark.parametrize(("site", "has_button"), [("none", True), ("same-origin", True), ("cross-site", False)])
async def test_no_other_site_leads_somebody_into_a_session(app: FastAPI, site: str, has_button: bool) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        page = await http.get(f"/console/enter?code={generate_code()}", headers={"Sec-Fetch-Site": site})
    assert ("<button" in page.text) == has_button
