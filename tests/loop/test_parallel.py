"""Calls of one turn beside each other: judged in call order before any is sent, counted in call order however they end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ferryman.domain.calls.call import Ticket
from ferryman.domain.conversations.message import Message, Speaker
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.records.event import derive_events
from ferryman.inmemory.clock import START
from ferryman.loop.parallel import TOGETHER_MAX
from ferryman.ports.errors import UnavailableError
from tests.loop.conftest import Stage, fetches, says

DONE = says("Done.")


class Chat(Stage):
    """A stage whose execution answers a message; `before` is waited for by each call, when its function has it."""

    before: Callable[[Ticket], Awaitable[Any]] | None = None
    under_way = 0
    most_under_way = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.start(conversation="conv", question=1, answer=2)
        self.memory.messages["conv"] = {
            1: Message(conversation="conv", number=1, parent=0, role=Speaker.USER, at=START, content="Look.")
        }

    async def _execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await (self.before(ticket) if self.before else asyncio.sleep(0))
            return await super()._execute(ticket, execution=execution)
        finally:
            self.under_way -= 1


@pytest.fixture
def chat() -> Chat:
    return Chat()


async def test_reads_of_a_turn_are_under_way_together(chat: Chat):
    together = asyncio.Barrier(5)
    chat.before = lambda _: together.wait()  # passes once five wait
    await chat.run(fetches(5), DONE)
    assert chat.execution.status is Status.COMPLETED


async def test_a_task_makes_one_call_after_the_other(chat: Chat):
    chat.start(answer=0)
    await chat.run(fetches(5), DONE)
    assert chat.most_under_way == 1


async def test_no_more_are_under_way_than_may_be(chat: Chat):
    await chat.run(fetches(TOGETHER_MAX + 2), DONE)
    assert chat.most_under_way == TOGETHER_MAX
    assert len(chat.results) == TOGETHER_MAX + 2


async def test_a_call_that_changes_something_runs_alone_and_in_its_place(chat: Chat):
    order: list[int] = []

    async def note(ticket: Ticket) -> None:
        order.append(ticket.seq)
        await asyncio.sleep(0)

    chat.before = note
    chat.task(tools=("http_get", "http_post"))
    url = "https://api.coingecko.com/0"
    post = ("http_post", {"url": url, "body": {}})
    await chat.run(
        says("", ("http_get", {"url": url}), ("http_get", {"url": f"{url}1"}), post, ("http_get", {"url": f"{url}2"})), DONE
    )
    assert order == [0, 1, 2, 3]
    assert chat.most_under_way == 2


async def test_results_are_counted_in_call_order_however_they_come(chat: Chat):
    ended = [asyncio.Event() for _ in range(4)]

    async def wait_for_the_next(ticket: Ticket) -> None:
        if ticket.seq < 3:
            await ended[ticket.seq + 1].wait()
        ended[ticket.seq].set()

    chat.before = wait_for_the_next
    await chat.run(fetches(4), DONE)
    assert [ticket.seq for ticket in chat.executed] == [3, 2, 1, 0]
    assert [row.url for row in chat.execution.tool_calls] == [result.url for result in chat.results]
    (message,) = [message for message in chat.model.prompts[-1].messages if message["role"] == "user"][1:]
    assert ["answer 0" in str(block) for block in message["content"]] == [True, False, False, False]


async def test_the_third_call_that_is_the_same_is_refused_before_any_is_sent(chat: Chat):
    same = ("http_get", {"url": "https://api.coingecko.com/0"})
    await chat.run(says("", same, same, same), DONE)
    assert sorted(ticket.seq for ticket in chat.executed) == [0, 1]
    assert chat.results[2].blocked


async def test_the_limit_of_a_minute_admits_the_first_calls(chat: Chat):
    free = chat.deps().plans["pro"].calls_per_minute
    script = [fetches(min(TOGETHER_MAX, free - done)) for done in range(0, free, TOGETHER_MAX)]
    await chat.run(*script, says("", *[("http_get", {"url": f"https://api.coingecko.com/last/{n}"}) for n in range(2)]))
    assert len(chat.executed) == free


async def test_what_has_settled_before_one_that_failed_is_not_sent_again(chat: Chat):
    chat.on_call = lambda ticket: (
        UnavailableError("away") if ticket.seq == 1 and len(chat.executed) <= 3 else Stage().on_call(ticket)
    )
    assert not await chat.run(fetches(3), DONE)
    chat.clock.turn(600)
    await chat.run()
    counts = [sum(ticket.seq == seq for ticket in chat.executed) for seq in range(3)]
    assert counts == [1, 2, 1]


async def test_the_events_are_those_of_calls_one_after_the_other(chat: Chat):
    await chat.run(fetches(3), DONE)
    tickets = chat.memory.tickets["e"]
    events = list(derive_events(chat.execution, list(chat.memory.steps["e"].values()), tickets))
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert [event.kind for event in events][2:8] == ["tool_call", "tool_result"] * 3
