"""Headers of every answer at and below /console; and links, which no part of a stranger's address can direct."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import datetime

import httpx
import pytest
from fastapi import FastAPI

from ferryman.domain.console_sessions.link import SignInLink
from ferryman.inmemory.console_sessions import MemoryConsoleSessions
from ferryman.serving.api.limits import REQUESTS_MAX
from ferryman.serving.keys import digest_key, generate_code
from tests.serving.conftest import Stage, create_app

from .conftest import SAME_SITE, Browser

FORM = {"Content-Type": "application/x-www-form-urlencoded", **SAME_SITE}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", "/console", 405),
        ("OPTIONS", "/console/sign-in", 405),
        ("GET", "/console/assets/0/console.js", 404),
        ("GET", "/console/executions/x%0A", 404),
    ],
)
async def test_an_answer_that_no_page_gives_is_no_document_of_a_browser(
    browser: Browser, method: str, path: str, status: int
) -> None:
    answer = await browser.http.request(method, path)
    assert answer.status_code == status
    check_headers(answer)


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [("{}", "application/json", 415), ("x" * 3_000_001, FORM["Content-Type"], 413), ("--a", "multipart/form-data", 415)],
)
async def test_a_body_that_is_refused_is_none_either(browser: Browser, content: str, kind: str, status: int) -> None:
    answer = await browser.http.post("/console", content=content, headers={**FORM, "Content-Type": kind})
    assert answer.status_code == status
    check_headers(answer)


async def test_nor_is_a_crash(stage: Stage) -> None:
    class Broken(MemoryConsoleSessions):
        async def take_link(self, digest: str, *, now: datetime) -> SignInLink | None:
            raise RuntimeError("the database is gone")

    transport = httpx.ASGITransport(create_app(replace(stage.deps(), console_sessions=Broken(stage.memory))))
    async with httpx.AsyncClient(transport=transport, base_url="https://testserver") as http:
        answer = await http.post("/console/enter", data={"code": generate_code()}, headers=SAME_SITE)
    assert answer.status_code == 500
    check_headers(answer)


async def test_an_asset_is_kept_by_browsers_all_the_same(browser: Browser) -> None:
    link = re.search(r'href="([^"]*\.css)"', (await browser.open("/console")).text)
    assert link is not None
    assert "immutable" in (await browser.open("/" + link[1])).headers["cache-control"]


def check_headers(answer: httpx.Response) -> None:
    policy = set(answer.headers["content-security-policy"].split("; "))
    assert {"default-src 'none'", "frame-ancestors 'none'"} <= policy
    assert (answer.headers["x-content-type-options"], answer.headers["cache-control"]) == ("nosniff", "no-store")


@pytest.mark.parametrize("name", ["javascript:alert(1)", "https:evil.test", "%5C%5Cevil.test"])
async def test_no_part_of_an_address_is_where_a_link_leads(app: FastAPI, name: str) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        page = await http.get(f"/console/executions/{name}", headers={"Sec-Fetch-Site": "cross-site"})
    assert "Continue" in page.text
    assert "alert" not in page.text
    assert "evil" not in page.text


@pytest.mark.parametrize(
    "target",
    ["//evil.test", "/\\evil.test", "/console/../v1/me", "/console/%2E%2e/x", "/console//evil.test", "/console\r\nA: b"],
)
async def test_nobody_is_led_out_of_the_console(browser: Browser, target: str) -> None:
    page = await browser.http.get("/console/sign-in", params={"next": target})
    assert 'name="next" value="/console"' in page.text


async def test_somebody_is_led_back_to_the_page_that_was_asked(browser: Browser) -> None:
    page = await browser.http.get("/console/sign-in", params={"next": "/console/executions/exec_1"})
    assert 'name="next" value="/console/executions/exec_1"' in page.text


async def test_a_refusal_of_one_stranger_is_not_that_of_the_next(app: FastAPI) -> None:
    flooded = "fm_" + "a" * 43
    turns, digest = app.state.deps.requests_of, digest_key(flooded)
    waiting = [asyncio.ensure_future(turns.take(digest)) for _ in range(REQUESTS_MAX)]
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
            first = await Browser(http=http).sign_in(flooded)
            second = await Browser(http=http).sign_in("fm_" + "b" * 43)
    finally:
        for turn in waiting:
            turn.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    assert (first.status_code, second.status_code) == (429, 403)
