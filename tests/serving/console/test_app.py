"""The console as a whole: what every answer has, who may ask for what, and errors as pages."""

from __future__ import annotations

import httpx
import pytest
from fastapi import FastAPI

from ferryman import offload
from ferryman.serving.api.access import KEY_DIGEST
from ferryman.serving.console import app as app_module
from ferryman.serving.console import pages
from ferryman.serving.console.rendering import load_environment
from tests.serving.conftest import Stage

from .conftest import SAME_SITE, Browser

CROSS_SITE = {"Sec-Fetch-Site": "cross-site"}


@pytest.mark.parametrize("path", ["/console", "/console/sign-in", "/console/nowhere"])
async def test_every_page_has_the_strict_policy(browser: Browser, path: str) -> None:
    policy = (await browser.open(path)).headers["content-security-policy"]
    assert {"default-src 'none'", "script-src 'self'", "trusted-types 'none'"} <= set(policy.split("; "))
    assert "unsafe" not in policy


async def test_no_page_is_kept_by_a_cache(browser: Browser) -> None:
    assert (await browser.open("/console")).headers["cache-control"] == "no-store"


async def test_an_address_that_leads_nowhere_is_a_page(browser: Browser) -> None:
    page = await browser.open("/console/nowhere")
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")


async def test_a_link_on_another_site_leads_on_to_the_page_itself(app: FastAPI) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        page = await http.get("/console/sessions", headers=CROSS_SITE)
    assert page.headers["refresh"] == "0"


async def test_one_that_came_so_and_is_not_signed_in_is_asked_to(app: FastAPI) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        page = await http.get("/console/sessions", headers=SAME_SITE)
    assert ("refresh" in page.headers, "API key" in page.text) == (False, True)


async def test_somebody_is_led_nowhere_else_after_signing_in(app: FastAPI, stage: Stage) -> None:
    key = stage.owner("ann")["Authorization"].removeprefix("Bearer ")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        form = {"key": key, "next": "https://evil.test/console"}
        answer = await http.post("/console/sign-in", data=form, headers=SAME_SITE)
    assert str(answer.url.join(answer.headers["location"])) == "https://testserver/console"


async def test_a_header_is_no_way_into_the_api(app: FastAPI, stage: Stage) -> None:
    stage.owner("ann")
    digest = next(iter(stage.memory.keys))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        answer = await http.get("/v1/me", headers={KEY_DIGEST: digest, "Authorization": f"Session {digest}"})
    assert answer.status_code == 401


async def test_a_form_can_ask_only_for_what_its_page_does(browser: Browser) -> None:
    assert (await browser.send("/console", {"do": "format-disk"})).status_code == 422


async def test_a_form_that_is_too_large_is_refused(browser: Browser) -> None:
    answer = await browser.http.post("/console", data={"do": "x" * 3_000_001}, headers=SAME_SITE)
    assert answer.status_code == 413


def test_every_template_can_be_compiled() -> None:
    environment = load_environment()
    assert all(environment.get_template(name) for name in environment.list_templates())


def test_no_two_pages_have_one_path() -> None:
    paths = [route.path for route in pages.ROUTES]
    assert len(set(paths)) == len(paths)


async def test_a_text_that_takes_too_long_is_a_page_that_says_so(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    async def exceed(*_: object) -> str:
        raise offload.OverBudgetError("too long")

    monkeypatch.setattr(app_module, "render_apart", exceed)
    page = await browser.open("/console")
    assert (page.status_code, "Too large to be shown" in page.text) == (422, True)
