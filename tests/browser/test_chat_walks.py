"""Talking in the console, in a browser, through the whole local stack: answers stream, and are stopped, edited and branched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.browser.visits import Watch
from tests.browser.walks import Walk
from tests.journeys.conftest import call

HOST = "api.coingecko.com"
MODEL = "scripted/chat"
ASKS = [{"mode": "always", "tools": ["http_post"]}]
REPLACE = """async () => {
  document.getElementById("calls-2").dataset.old = "1";
  const { refresh } = await import(document.querySelector("script[src*='console.js']").src);
  await refresh(["calls-2"]);
}"""
"""Has the page ask for a part of it again, and put it in the place of one that is no longer the same."""

SLOW = {"text": "word " * 2_000, "stream": {"delay_ms": 50}}
"""Minutes of writing: a test that waits for its end fails."""


def begin(walk: Walk, *steps: Mapping[str, Any], **about: Any) -> str:
    """Return the path of a new conversation: with a task whose model takes these steps, where there are some."""
    task = walk.run(walk.journey.task(*steps, **about)) if steps else None
    return f"/console/conversations/{walk.run(walk.journey.client.create_conversation(task=task))['conversation_id']}"


def say(seen: Watch, text: str) -> None:
    """Type a message, and send it by the keyboard."""
    seen.page.fill("#f-content", text)
    seen.page.press("#f-content", "Control+Enter")


async def list_messages(walk: Walk, path: str) -> list[Mapping[str, Any]]:
    return [message async for message in walk.journey.client.iterate_messages(path.rpartition("/")[2])]


def test_an_answer_is_seen_while_it_is_written_and_ends_as_markdown(walk: Walk) -> None:
    path = begin(walk)
    with walk.open(f"{path}?model={MODEL}") as seen:
        say(seen, "What is it?")
        seen.page.locator("#live-2 p").first.wait_for()
        seen.page.locator("#m-2 .markdown strong", has_text="42").wait_for()
        assert seen.page.locator("#m-2 details.call summary").inner_text() == "calculator"
        assert seen.page.locator("#m-2 [data-live], #m-2 form button[value=stop]").count() == 0
        assert seen.list_problems() == []


def test_a_stopped_answer_has_what_was_written_until_then(walk: Walk) -> None:
    path = begin(walk, SLOW)
    with walk.open(path) as seen:
        say(seen, "Go on.")
        seen.page.locator("#live-2 p", has_text="word word").first.wait_for()
        seen.page.click("#m-2 button[value=stop]")
        seen.page.locator("#m-2 .badge.stopped").wait_for()
        assert seen.page.locator("#m-2 .markdown", has_text="word word").count() == 1
    assert walk.run(list_messages(walk, path))[1]["metadata"]["state"] == "stopped"


def test_an_edit_begins_another_branch_and_links_lead_between_them(walk: Walk) -> None:
    path = begin(walk)
    with walk.open(f"{path}?model={MODEL}") as seen:
        say(seen, "What is it?")
        seen.page.locator("#m-2 .markdown strong").wait_for()
        seen.page.click("#m-1 a:has-text('Edit')")
        seen.page.fill("#f-edit", "What was it?")
        seen.page.click("button[value=edit]")
        seen.page.locator("#m-4 .markdown strong").wait_for()
        assert "2 of 2" in seen.page.locator("#m-3 .branch").inner_text()
        seen.page.click("#m-3 .branch a")
        seen.page.locator("#m-1", has_text="What is it?").wait_for()
        assert seen.page.locator("#m-3").count() == 0
        seen.page.click("#m-2 button[value=regenerate]")
        seen.page.locator("#m-5 .markdown strong").wait_for()
        assert "2 of 2" in seen.page.locator("#m-5 .branch").inner_text()
        assert seen.list_problems() == []
    assert [message["parent"] for message in walk.run(list_messages(walk, path))] == [0, 1, 0, 3, 1]


def test_without_a_script_one_waits_for_the_answer_and_reads_it(walk: Walk) -> None:
    path = begin(walk)
    with walk.open(f"{path}?model={MODEL}", java_script_enabled=False) as seen:
        seen.page.fill("#f-content", "What is it?")
        seen.page.click("button[value=say]")
        seen.page.locator("#m-2 .markdown strong", has_text="42").wait_for()


def test_a_hidden_page_closes_its_stream_and_catches_up_when_it_is_seen(walk: Walk) -> None:
    path = begin(walk, SLOW)
    with walk.open(path) as seen:
        say(seen, "Go on.")
        seen.page.locator("#live-2 p", has_text="word word").first.wait_for()
        hide(seen, is_hidden=True)
        walk.run(walk.journey.client.cancel_answers(path.rpartition("/")[2]))
        walk.wait_for(lambda: list_messages(walk, path), lambda messages: len(messages) == 2)
        assert seen.page.locator("#m-2[data-live]").count() == 1
        hide(seen, is_hidden=False)
        seen.page.locator("#m-2 .badge.stopped").wait_for()
        assert seen.list_problems() == []


def hide(seen: Watch, *, is_hidden: bool) -> None:
    """Have the page believe that its tab is behind another one, or in front again."""
    seen.page.evaluate(
        """(hidden) => { Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange")); }""",
        is_hidden,
    )


def test_a_call_is_approved_inside_the_conversation(walk: Walk) -> None:
    journey = walk.journey
    walk.run(journey.serve(HOST))
    steps = [
        {"text": "I ask.", "tool_calls": [call("http_post", url=journey.url(HOST), body={"above": 1})]},
        {"text": "It is sent."},
    ]
    path = begin(walk, *steps, tools=["http_post"], integrations=["coingecko"], approvals=ASKS)
    with walk.open(path) as seen:
        say(seen, "Please.")
        waiting = seen.page.locator("#calls-2 section")
        waiting.wait_for()
        assert journey.url(HOST) in waiting.inner_text()
        waiting.locator("button[value=approve]").click()
        seen.page.locator("#m-2 .markdown", has_text="It is sent.").wait_for()
        assert seen.list_problems() == []
    assert len(walk.run(journey.received(HOST))) == 1


def test_what_was_typed_stays_when_a_part_of_the_page_is_replaced(walk: Walk) -> None:
    journey = walk.journey
    post = call("http_post", url=journey.url(HOST), body={"above": 1})
    steps = [{"text": "I ask.", "tool_calls": [post]}, {"text": "Fine."}]
    path = begin(walk, *steps, tools=["http_post"], integrations=["coingecko"], approvals=ASKS)
    with walk.open(path) as seen:
        say(seen, "Please.")
        reason = seen.page.locator("#calls-2 input[name=reason]")
        reason.fill("I do not know them.")
        seen.page.evaluate(REPLACE)
        assert seen.page.locator("#calls-2[data-old]").count() == 0
        assert reason.input_value() == "I do not know them."
        assert reason.evaluate("(field) => field === document.activeElement")
