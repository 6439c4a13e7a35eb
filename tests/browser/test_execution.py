"""The page of an execution in a browser: what is large is loaded where it is opened."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from tests.browser.conftest import watch
from tests.browser.filled_site import EXECUTION, TASK
from tests.browser.walks import Walk
from tests.journeys.conftest import asks, call, says

PATH = f"/console/executions/{EXECUTION}"
HOST = "api.coingecko.com"


def test_a_call_is_loaded_in_its_row_when_it_is_opened(chromium: Any, origin: str, state: Any) -> None:
    with watch(chromium, origin, state) as seen:
        assert seen.open(PATH) == []
        assert seen.page.locator("#call-2 .loaded").count() == 0
        seen.page.locator("#call-2 summary").click()
        seen.page.locator("#call-2 .loaded").wait_for()
        assert "https://api.example.com/week" in seen.page.locator("#call-2 .loaded pre").first.inner_text()
        assert seen.list_problems() == []


def test_links_of_a_loaded_call_lead_where_they_do_on_its_own_page(chromium: Any, origin: str, state: Any) -> None:
    with watch(chromium, origin, state) as seen:
        seen.open(PATH)
        seen.page.locator("#call-2 summary").click()
        seen.page.locator("#call-2 .loaded a").first.click()
        assert urlsplit(seen.page.url).path == f"{PATH}/audit"


def test_a_loaded_call_repeats_no_id(chromium: Any, origin: str, state: Any) -> None:
    with watch(chromium, origin, state) as seen:
        seen.open(PATH)
        for number in (1, 2):
            seen.page.locator(f"#call-{number} summary").click()
            seen.page.locator(f"#call-{number} .loaded").wait_for()
        assert seen.find_violations() == []


def test_without_a_script_a_call_is_a_link_away(chromium: Any, origin: str, state: Any) -> None:
    with watch(chromium, origin, state, java_script_enabled=False) as seen:
        seen.page.goto(origin + PATH)
        seen.page.locator("#call-2 summary").click()
        seen.page.locator("#call-2 details a").click()
        assert urlsplit(seen.page.url).path == f"{PATH}/calls/2"


def test_turns_are_added_while_an_opened_call_stays_as_it_is(walk: Walk) -> None:
    journey = walk.journey
    walk.run(journey.serve(HOST, delay_s=2.0))
    replies = [asks(call("http_get", url=f"{journey.url(HOST)}?n={number}")) for number in range(4)]
    task = walk.run(journey.task(*replies, says("All is well."), tools=["http_get"], integrations=["coingecko"]))
    with walk.open():
        pass  # it signs in
    execution = walk.run(journey.client.start_execution(task))["execution_id"]
    with walk.open(f"/console/executions/{execution}") as seen:
        seen.page.locator("#call-0 summary").wait_for()
        seen.page.locator("#call-0 summary").click()
        seen.page.locator("#call-0 .loaded").wait_for()
        seen.page.locator(".badge.completed").first.wait_for()
        seen.page.locator("#turn-5").wait_for()
        seen.page.locator("#call-3 .badge.done").wait_for()
        assert seen.page.locator("section.turn").count() == 5
        assert seen.page.locator("#call-0 details[open] .loaded").count() == 1
        seen.page.locator("#call-0 .loaded .badge.done").wait_for()  # it was loaded again when it had settled
        assert seen.list_problems() == []


def test_the_task_is_one_click_away(chromium: Any, origin: str, state: Any) -> None:
    with watch(chromium, origin, state) as seen:
        seen.open(PATH)
        seen.page.locator("#summary a").first.click()
        assert urlsplit(seen.page.url).path == f"/console/tasks/{TASK}"
