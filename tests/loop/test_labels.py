"""The label of a conversation: the owner's prompt, and all that was read since; it only ever rises."""

from __future__ import annotations

from typing import Any

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.labelling import label_result
from ferryman.domain.labels.label import OWNED, READ, drop_sources
from tests.loop.conftest import fetches, says


def answer(ticket: Any) -> ToolCallResult:
    """Return an answer as a tool function settles it."""
    result = ToolCallResult(ticket.tool, "framed", url="https://a.test/b?c=d", response_status=200)
    return label_result(result, find_tool(ticket.tool).policy, seq=ticket.seq, arguments=ticket.label)


def read_tickets(stage: Any) -> list[Any]:
    return [ticket for _, ticket in sorted(stage.memory.tickets["e"].items())]


async def test_calls_of_the_first_turn_are_asked_with_the_owners_words_alone(stage: Any) -> None:
    stage.on_call = answer
    await stage.run(fetches(2), says("done"))
    assert [ticket.label for ticket in read_tickets(stage)] == [OWNED, OWNED]


async def test_calls_after_something_was_read_are_asked_with_what_is_untrusted(stage: Any) -> None:
    stage.on_call = answer
    await stage.run(fetches(), fetches(), fetches(), says("done"))
    assert [ticket.label for ticket in read_tickets(stage)] == [OWNED, READ, READ]


async def test_a_refused_call_reads_nothing(stage: Any) -> None:
    await stage.run(says("", ("nothing", {})), fetches(), says("done"))
    assert [ticket.label for ticket in read_tickets(stage)] == [OWNED, OWNED]
    assert [drop_sources(part.label) for part in read_tickets(stage)[0].result.parts] == [OWNED]


async def test_what_the_loop_itself_says_is_labelled_with_its_call(stage: Any) -> None:
    await stage.run(says("", ("nothing", {})), says("done"))
    (part,) = read_tickets(stage)[0].result.parts
    assert [(source.tool, source.call) for source in part.label.sources] == [("nothing", 0)]
