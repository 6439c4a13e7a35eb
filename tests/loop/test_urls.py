"""The origin of URLs in the journal: decided with the turn, and the same after a crash."""

from __future__ import annotations

import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.urls.origin import FETCHES_PER_SITE
from ferryman.loop.journal import rebuild
from tests.loop.conftest import Stage, says

WRITTEN = "https://start.test/"
LINKS = [f"https://evil.test/{number}" for number in range(FETCHES_PER_SITE + 1)]


@pytest.fixture
def web(stage: Stage) -> Stage:
    """Return a stage whose task fetches pages, each of which shows the links."""
    stage.task(tools=("web_fetch", "http_get"), task_prompt=f"Read {WRITTEN}")
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, " ".join(LINKS), response_status=200)
    return stage


def fetch(*urls: str):
    return says("", *[("web_fetch", {"url": url}) for url in urls])


def origins(stage: Stage) -> list[UrlOrigin | None]:
    return [ticket.url_origin for _, ticket in sorted(stage.memory.tickets["e"].items())]


async def test_origins_are_journaled_with_the_turn(web):
    await web.run(fetch(WRITTEN, LINKS[0]), fetch(LINKS[0], "https://api.coingecko.com/x"), says("done"))
    assert origins(web) == [UrlOrigin.WRITTEN, UrlOrigin.UNSEEN, UrlOrigin.RESULT, UrlOrigin.APPROVED]


async def test_what_the_user_starts_it_with_is_written(web):
    web.start(input="and https://input.test/")
    await web.run(fetch("https://input.test/"), says("done"))
    assert origins(web) == [UrlOrigin.WRITTEN]


async def test_so_many_of_a_site_in_whatever_turns(web):
    await web.run(fetch(WRITTEN), fetch(*LINKS[:3]), fetch(*LINKS[3:]), fetch(LINKS[0]), says("done"))
    assert origins(web)[1:] == [UrlOrigin.RESULT] * FETCHES_PER_SITE + [UrlOrigin.SPENT] * 2


async def test_calls_of_other_tools_have_no_origin(web):
    await web.run(says("", ("http_get", {"url": "https://api.coingecko.com/"})), says("done"))
    assert origins(web) == [None]


async def test_a_rebuilt_run_has_seen_and_counted_the_same(web):
    await web.run(fetch(WRITTEN), fetch(*LINKS[:4]), says("done"))
    memory = web.memory
    tickets = [ticket for _, ticket in sorted(memory.tickets["e"].items())]
    run = rebuild(web.execution, memory.openings["e"], list(memory.steps["e"].values()), tickets)
    assert run.seen is not None
    assert run.seen.judge([*LINKS[4:], "https://other.test/"]) == [UrlOrigin.RESULT, UrlOrigin.SPENT, UrlOrigin.UNSEEN]


async def test_an_execution_without_such_a_tool_remembers_nothing(stage):
    await stage.run(says("done"))
    assert rebuild(stage.execution, stage.memory.openings["e"], list(stage.memory.steps["e"].values()), []).seen is None


async def test_a_failure_shows_no_url(web):
    web.on_call = lambda ticket: ToolCallResult(ticket.tool, LINKS[0], ok=False, code="not_found", response_status=404)
    await web.run(fetch(WRITTEN), fetch(LINKS[0]), says("done"))
    assert origins(web) == [UrlOrigin.WRITTEN, UrlOrigin.UNSEEN]


async def test_a_call_that_was_blocked_has_sent_an_approved_host_nothing(stage):
    listed = "https://api.coingecko.com/list"

    def answer(ticket):
        if ticket.tool == "http_get":
            return ToolCallResult(ticket.tool, "blocked", ok=False, blocked=True)
        return ToolCallResult(ticket.tool, LINKS[0], url=listed, response_status=200)

    stage.task(tools=("web_fetch", "http_get"), task_prompt=f"Read {listed}")
    stage.on_call = answer
    blocked = says("", ("http_get", {"url": "https://api.coingecko.com/x"}))
    await stage.run(blocked, fetch(listed), fetch(LINKS[0]), says("done"))
    assert origins(stage) == [None, UrlOrigin.WRITTEN, UrlOrigin.RESULT]


async def test_what_the_host_of_a_webhook_shows_after_it_was_sent_something_counts_as_the_models_own(stage):
    board = "https://board.test/posts"
    stage.task(
        tools=("web_fetch", "webhook"),
        task_prompt=f"Read {board} and {WRITTEN}",
        integrations=("webhook",),
        webhook_urls=("https://board.test/hook",),
    )
    stage.on_call = lambda ticket: ToolCallResult(
        ticket.tool, LINKS[0], url=ticket.display_arguments["url"], response_status=200
    )
    post = ("webhook", {"url": "https://board.test/hook", "body": {"text": LINKS[0]}})
    await stage.run(says("", post), fetch(board), fetch(LINKS[0]), fetch(WRITTEN), fetch(LINKS[0]), says("done"))
    assert origins(stage)[2:] == [UrlOrigin.UNSEEN, UrlOrigin.WRITTEN, UrlOrigin.RESULT]
