"""What people do with tools in the console, in a browser, through the whole local stack."""

from __future__ import annotations

import json

from tests.browser.walks import Walk
from tests.journeys.conftest import says

HOST = "api.coingecko.com"


def write_spec(walk: Walk) -> str:
    """Return a document of two operations: one at the journey's own address, one at a server that nobody approved."""
    here = {"operationId": "readPrices", "summary": "Read the prices"}
    elsewhere = {"operationId": "readNews", "summary": "Read the news", "servers": [{"url": "https://news.example"}]}
    paths = {walk.journey.path: {"get": here}, "/news": {"get": elsewhere}}
    servers = [{"url": f"https://{HOST}"}]
    return json.dumps({"openapi": "3.1.0", "info": {"title": "Prices", "version": "1"}, "servers": servers, "paths": paths})


def test_a_document_is_imported_after_a_dry_run_that_follows_typing_and_its_tool_is_tried(walk: Walk) -> None:
    journey = walk.journey
    walk.run(journey.serve(HOST, json={"bitcoin": "seventy thousand"}))
    task = walk.run(journey.task(says("Done."), tools=["http_get"], integrations=["coingecko"]))
    with walk.open(f"/console/tools?task={task}") as seen:
        page = seen.page
        page.get_by_role("link", name="Import OpenAPI").click()
        page.fill("#f-spec", write_spec(walk))
        page.locator("#made").get_by_text("Read the prices").wait_for()
        page.locator("#made-disabled").get_by_text("news.example is not approved").wait_for()
        page.get_by_role("button", name="Import", exact=True).click()
        page.get_by_text("Imported.").wait_for()
        row = page.locator(".tool-row", has_text="readPrices")
        assert f"GET {journey.path} - Read the prices" in " ".join(row.inner_text().split())
        assert page.locator("summary", has_text="Prices (2 tools)").is_visible()
        row.get_by_role("link").click()
        page.get_by_role("button", name="Call").click()
        page.locator("#tried").get_by_text("seventy thousand").wait_for()
        assert page.locator("#tried .badge.done").is_visible()
        assert seen.list_problems() == []
    (request,) = walk.run(journey.received(HOST))
    assert request["method"] == "GET"


def test_a_tool_that_is_switched_off_is_refused_in_words_when_it_is_tried(walk: Walk) -> None:
    journey = walk.journey
    walk.run(journey.serve(HOST))
    task = walk.run(journey.task(says("Done."), tools=["http_get"], integrations=["coingecko"]))
    with walk.open(f"/console/tools?task={task}") as seen:
        page = seen.page
        page.get_by_role("switch", name="HTTP GET").uncheck()
        page.get_by_role("button", name="Save").click()
        page.get_by_text("Saved.").wait_for()
        page.goto(f"{seen.origin}/console/tasks/{task}/tools/http_get")
        page.get_by_label("url").fill(journey.url(HOST))
        page.get_by_role("button", name="Call").click()
        page.locator("#tried").get_by_text("is not enabled for this task").wait_for()
        assert page.locator("#tried .badge.refused").is_visible()
        assert seen.list_problems() == []
    assert walk.run(journey.received(HOST)) == []
