"""What people do in the console, in a browser, through the whole local stack."""

from __future__ import annotations

from tests.browser.walks import Walk
from tests.journeys.conftest import asks, call, says

HOST = "api.coingecko.com"
READS = {"tools": ["http_get"], "integrations": ["coingecko"]}


def test_a_one_time_link_signs_a_browser_in(walk: Walk) -> None:
    with walk.open() as seen:
        assert seen.page.locator("h1").inner_text() == "Overview"


def test_an_execution_is_watched_live_to_its_end(walk: Walk) -> None:
    journey = walk.journey
    walk.run(journey.serve(HOST, delay_s=1.0))
    task = walk.run(journey.task(asks(call("http_get", url=journey.url(HOST))), says("All is well."), **READS))
    execution = walk.run(journey.client.start_execution(task))["execution_id"]
    with walk.open(f"/console/executions/{execution}") as seen:
        seen.page.get_by_text("All is well.").first.wait_for()
        seen.page.locator(".badge.completed").first.wait_for()
        assert seen.list_problems() == []
