"""Turns that are gone on with, and turns that are void: what a watcher had seen decides."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ferryman.domain.conversations.live import LiveBlock, LiveTurn, locate_end
from ferryman.domain.conversations.position import StreamPosition
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Status
from ferryman.serving.streams import moments
from ferryman.serving.streams.following import follow
from tests.builders import START, build_execution, build_step, build_ticket

ARGUMENTS = {"query": "Fähre", "most": 3}
RUNNING = build_execution(status=Status.RUNNING, started_at=START)


def write(text: str) -> WatchedAnswer:
    return WatchedAnswer(execution=RUNNING, live=LiveTurn(event=2, blocks=(LiveBlock(text),)))


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
@pytest.mark.parametrize("is_ascii", [True, False])
def test_arguments_go_on_in_the_spelling_that_was_seen(separators: tuple[str, str], is_ascii: bool) -> None:
    text = json.dumps(ARGUMENTS, separators=separators, ensure_ascii=is_ascii)
    use = {"type": "tool_use", "id": "tc_1", "name": "web_search", "input": ARGUMENTS}
    step = build_step(content=(use,), stop_reason="tool_use", calls=1)
    ticket = build_ticket(call="tc_1", tool="web_search", display_arguments=ARGUMENTS)
    seen = StreamPosition(event=1, live=locate_end([LiveBlock(text[:15], "tc_1", "web_search")]), call=0)
    committed = WatchedAnswer(execution=RUNNING, steps=[step], tickets={0: ticket})
    deltas = [moment.delta for moment in follow(seen, committed) if isinstance(moment, moments.BlockGrowth)]
    assert deltas == [text[15:]]


def test_arguments_that_the_model_spelled_otherwise_are_the_same_to_who_has_all_of_them() -> None:
    block = LiveBlock('{ "query" : "Fähre" , "most" : 3 }', "tc_1", "web_search")
    use = {"type": "tool_use", "id": "tc_1", "name": "web_search", "input": ARGUMENTS}
    step = build_step(content=(use,), stop_reason="tool_use", calls=1)
    seen = StreamPosition(event=1, live=locate_end([block]), call=0)
    following = [*follow(seen, WatchedAnswer(execution=RUNNING, steps=[step]), LiveTurn(event=2, blocks=(block,)))]
    assert not any(isinstance(moment, moments.Replacement) for moment in following)


def test_a_text_whose_end_was_seen_does_not_grow() -> None:
    seen = StreamPosition(event=1, live=locate_end([LiveBlock("Hello")]), is_ended=True)
    assert isinstance(next(iter(follow(seen, write("Hello, you")))), moments.Replacement)


def test_a_text_that_goes_on_is_not_void() -> None:
    seen = StreamPosition(event=1, live=locate_end([LiveBlock("Hello")]))
    (growth,) = follow(seen, write("Hello, you"))
    assert isinstance(growth, moments.BlockGrowth)
    assert growth.delta == ", you"


def test_a_turn_of_which_nothing_is_known_is_neither_gone_on_with_nor_void() -> None:
    seen = StreamPosition(event=1, live=locate_end([LiveBlock("Hello")]))
    assert [*follow(seen, replace(write(""), live=None))] == []
