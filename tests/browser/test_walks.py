"""What people do in the console, in a browser, through the whole local stack."""

from __future__ import annotations

import re
from typing import Any

from ferryman.gcp.places import Places
from tests.browser.walks import Walk
from tests.journeys.conftest import asks, call, says

HOST = "api.coingecko.com"
READS = {"tools": ["http_get"], "integrations": ["coingecko"]}
CLICKS_MAX = 4
HIDE = """(isHidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""What a browser does with a tab that is put behind another one."""


def start_slow(walk: Walk, calls: int = 1) -> str:
    """Return an execution whose model asks for these calls, one after the other, each of which takes a second."""
    journey = walk.journey
    walk.run(journey.serve(HOST, delay_s=1.0))
    steps = [asks(call("http_get", url=journey.url(HOST), query_params={"n": number})) for number in range(calls)]
    task = walk.run(journey.task(*steps, says("All is well."), **READS))
    return str(walk.run(journey.client.start_execution(task))["execution_id"])


def await_end(page: Any, state: str = "completed") -> None:
    """Wait until the page of an execution shows its end, without being loaded again."""
    page.locator(f".badge.{state}").first.wait_for()


async def count_streams(walk: Walk) -> int:
    """Return how many streams the owner holds open, as the API counts them."""
    owner = (await walk.journey.client.get_me())["owner"]
    document = await Places(walk.site.clients.firestore()).locate_streams(owner).get()
    return len((document.to_dict() or {}).get("held", ()))


def await_streams(walk: Walk, count: int) -> None:
    """Wait until the owner holds so many streams open."""
    walk.wait_for(lambda: count_streams(walk), lambda number: number == count)


def test_a_one_time_link_signs_a_browser_in(walk: Walk) -> None:
    with walk.open() as seen:
        assert seen.page.locator("h1").inner_text() == "Overview"


def test_the_first_run_leads_to_a_finished_task_in_four_clicks(walk: Walk) -> None:
    with walk.open() as seen:
        clicks = ["#first a", "#create", "button[value=start]"]
        for selector in clicks:
            seen.page.click(selector)
        await_end(seen.page)
        assert (len(clicks) <= CLICKS_MAX, seen.list_problems()) == (True, [])


def test_an_execution_is_watched_live_to_its_end(walk: Walk) -> None:
    execution = start_slow(walk, 2)
    with walk.open(f"/console/executions/{execution}") as seen:
        seen.requests.clear()
        await_end(seen.page)
        assert "All is well." in seen.page.locator("main").inner_text()
        loaded = [url for url in seen.requests if url.endswith(f"/executions/{execution}")]
        assert (seen.page.locator("li.call").count(), loaded, seen.list_problems()) == (2, [], [])


def test_an_execution_is_cancelled_and_sends_nothing_more(walk: Walk) -> None:
    execution = start_slow(walk, 8)
    with walk.open(f"/console/executions/{execution}") as seen:
        seen.page.click("#cancel")
        await_end(seen.page, "killed")
    assert len(walk.run(walk.journey.received(HOST))) < 8


def test_a_call_is_approved_by_keyboard_and_sent_once(walk: Walk) -> None:
    journey = walk.journey
    walk.run(journey.serve(HOST))
    rules = [{"mode": "always", "tools": ["http_post"]}]
    post = asks(call("http_post", url=journey.url(HOST), body={"amount": 100}))
    fields = {"tools": ["http_post"], "integrations": ["coingecko"], "approvals": rules}
    task = walk.run(journey.task(post, says("Done."), **fields))
    execution = walk.run(journey.client.start_execution(task))["execution_id"]
    with walk.open("/console/approvals") as seen:
        # the list asks for itself again while it is seen
        seen.page.locator("a[data-row]").first.wait_for()
        seen.page.keyboard.press("j")
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_url(re.compile("/console/approvals/appr_"))
        assert "amount" in seen.page.locator("main").inner_text()
        assert walk.run(journey.received(HOST)) == []
        seen.page.keyboard.press("a")
        seen.page.keyboard.press("Enter")
        walk.run(journey.await_end(execution))
    assert len(walk.run(journey.received(HOST))) == 1


def test_an_answer_of_the_chat_comes_in_while_it_is_written(walk: Walk) -> None:
    conversation = walk.run(walk.journey.client.create_conversation(title="Sums"))["conversation_id"]
    walk.run(walk.journey.admin.set_script(walk.journey.name, {"steps": [says("The sum is **42**.")]}))
    with walk.open(f"/console/conversations/{conversation}?model=scripted/{walk.journey.name}") as seen:
        seen.page.fill("#f-content", "What is the sum?")
        seen.page.keyboard.press("Control+Enter")
        seen.page.locator("article.assistant strong", has_text="42").wait_for()
        assert seen.list_problems() == []


def test_a_hidden_tab_holds_no_stream_and_catches_up_when_it_is_seen(walk: Walk) -> None:
    execution = start_slow(walk, 6)
    with walk.open(f"/console/executions/{execution}") as seen:
        await_streams(walk, 1)
        seen.page.evaluate(HIDE, True)
        await_streams(walk, 0)
        walk.run(walk.journey.await_end(execution))
        assert seen.page.locator(".badge.completed").count() == 0
        seen.page.evaluate(HIDE, False)
        await_end(seen.page)
        assert (seen.page.locator("li.call").count(), seen.list_problems()) == (6, [])


def test_without_a_script_a_task_is_started_and_its_end_is_read(walk: Walk) -> None:
    task = walk.run(walk.journey.task(says("All is well.")))
    with walk.open(java_script_enabled=False) as seen:
        seen.page.goto(f"{seen.origin}/console/tasks/{task}")
        seen.page.click("button[value=start]")
        seen.page.wait_for_url(re.compile("/console/executions/exec_"))
        walk.run(walk.journey.await_end(seen.page.url.partition("?")[0].rpartition("/")[2]))
        seen.page.reload()
        assert "All is well." in seen.page.locator("main").inner_text()


def test_moments_are_in_the_readers_zone_and_in_utc_on_hover(walk: Walk) -> None:
    execution = start_slow(walk)
    with walk.open(f"/console/executions/{execution}", timezone_id="Asia/Kolkata") as seen:
        moment = seen.page.locator("time").first
        assert moment.inner_text().endswith("+05:30")
        assert (moment.get_attribute("title") or "").endswith("UTC")


def test_the_audit_is_printed_without_menus_and_forms(walk: Walk) -> None:
    execution = start_slow(walk)
    walk.run(walk.journey.await_end(execution))
    with walk.open(f"/console/executions/{execution}/audit") as seen:
        seen.page.emulate_media(media="print")
        assert [seen.page.locator(part).first.is_visible() for part in ("h1", ".bar", "main form")] == [True, False, False]
