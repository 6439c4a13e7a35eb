"""Deciding about approvals in a browser: by the keyboard, with a reason, and for who follows the link of a notice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.browser.visits import Watch
from tests.browser.walks import Walk
from tests.journeys.conftest import asks, call, says

HOST = "api.coingecko.com"
ASKS = [{"mode": "always", "tools": ["http_post"]}]


def wait(walk: Walk, count: int = 1) -> list[str]:
    """Return the approvals of so many executions that wait, the newest one first."""
    journey = walk.journey
    walk.run(journey.serve(HOST))
    post = call("http_post", url=journey.url(HOST), body={"above": 1})
    fields: dict[str, Any] = {"tools": ["http_post"], "integrations": ["coingecko"], "approvals": ASKS}
    task = walk.run(journey.task(asks(post), says("Fine."), **fields))

    async def read() -> list[str]:
        return [item["approval_id"] async for item in journey.client.iterate_approvals(state="pending")]

    waiting: list[str] = []
    for number in range(1, count + 1):
        walk.run(journey.client.start_execution(task))
        waiting = walk.wait_for(read, lambda approvals, number=number: len(approvals) == number)
    return waiting


def get(walk: Walk, approval: str) -> Mapping[str, Any]:
    approval_of_api: Mapping[str, Any] = walk.run(walk.journey.client.get_approval(approval))
    return approval_of_api


def press(seen: Watch, *keys: str) -> None:
    for key in keys:
        seen.page.keyboard.press(key)


def test_the_keyboard_alone_leads_through_the_list_and_decides(walk: Walk) -> None:
    second, first = wait(walk, 2)
    with walk.open("/console/approvals") as seen:
        press(seen, "j", "j", "k", "j")
        assert seen.page.evaluate("document.activeElement.id") == f"open-{first}"
        press(seen, "Enter")
        seen.page.wait_for_url(f"**/console/approvals/{first}")
        press(seen, "a")
        assert seen.page.evaluate("document.activeElement.value") == "approve"
        assert get(walk, first)["state"] == "pending"
        press(seen, "Enter")
        # the next one that waits opens
        seen.page.wait_for_url(f"**/console/approvals/{second}?done=approved")
        press(seen, "d", "Enter")
        seen.page.wait_for_url("**/console/approvals?done=denied")
        assert seen.list_problems() == []
    assert [get(walk, name)["state"] for name in (first, second)] == ["approved", "denied"]


def test_a_call_is_denied_with_a_reason(walk: Walk) -> None:
    (approval,) = wait(walk)
    with walk.open(f"/console/approvals/{approval}") as seen:
        seen.page.fill("input[name=reason]", "I do not know <b>them</b>.")
        seen.page.click("button[value=deny]")
        seen.page.wait_for_url("**/console/approvals?done=denied")
    assert get(walk, approval)["decision"]["reason"] == "I do not know <b>them</b>."
    assert walk.run(walk.journey.received(HOST)) == []


def test_keys_are_letters_where_one_types(walk: Walk) -> None:
    (approval,) = wait(walk)
    with walk.open(f"/console/approvals/{approval}") as seen:
        seen.page.focus("input[name=reason]")
        seen.page.keyboard.type("a bad idea")
        assert seen.page.input_value("input[name=reason]") == "a bad idea"
        press(seen, "Tab")
        assert seen.page.evaluate("document.activeElement.name") == "sends"


def test_the_help_opens_by_its_key_and_lists_the_others(walk: Walk) -> None:
    with walk.open("/console/approvals") as seen:
        press(seen, "?")
        assert "go to the next and the previous approval" in seen.page.locator("#keys[open]").inner_text()


def test_the_link_of_a_notice_asks_to_sign_in_and_leads_to_the_call(walk: Walk) -> None:
    (approval,) = wait(walk)
    url = walk.site.note["url"]
    context = walk.browser.new_context()
    try:
        page = context.new_page()
        page.goto(f"{url}/console/approvals/{approval}")
        assert walk.journey.url(HOST) not in page.content()
        page.fill("input[name=key]", walk.run(walk.journey.client.create_key("browser"))["key"])
        page.click("button.main")
        page.wait_for_url(f"**/console/approvals/{approval}")
        assert walk.journey.url(HOST) in page.locator("table.exact", has_text="method").inner_text()
    finally:
        context.close()


@pytest.mark.parametrize("width", [1440, 360])
def test_the_buttons_are_on_the_screen_wherever_one_reads(walk: Walk, width: int) -> None:
    (approval,) = wait(walk)
    with walk.open(f"/console/approvals/{approval}", width=width) as seen:
        for place in (0, 400, 100_000):
            seen.page.evaluate("(place) => scrollTo(0, place)", place)
            box = seen.page.locator("button[value=approve]").bounding_box()
            assert 0 <= box["y"] <= 900 - box["height"]
