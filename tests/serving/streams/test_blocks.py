"""Blocks of a committed turn: its arguments as a watcher has seen them, and nothing that is no part of the answer."""

from __future__ import annotations

import json

from ferryman.domain.conversations.live import LiveBlock, LiveTurn, locate_end
from ferryman.serving.streams.blocks import read_blocks
from tests.builders import build_step

ARGUMENTS = {"query": "ferry", "most": 3}
USE = {"type": "tool_use", "id": "tc_1", "name": "web_search", "input": ARGUMENTS}
STEP = build_step(content=(USE,), stop_reason="tool_use", calls=1)
PLAIN = (LiveBlock(json.dumps(ARGUMENTS), "tc_1", "web_search"),)
WIDE = (LiveBlock('{ "query":  "ferry",  "most": 3 }', "tc_1", "web_search"),)


def test_arguments_are_spelled_as_the_model_spelled_them() -> None:
    assert read_blocks(STEP, None, LiveTurn(event=STEP.event, blocks=WIDE)) == WIDE


def test_arguments_of_another_turn_do_not_spell_those_of_this_one() -> None:
    assert read_blocks(STEP, None, LiveTurn(event=STEP.event + 1, blocks=WIDE)) == PLAIN


def test_what_a_watcher_has_seen_wins_over_the_spelling_of_the_model() -> None:
    assert read_blocks(STEP, locate_end(PLAIN), LiveTurn(event=STEP.event, blocks=WIDE)) == PLAIN


def test_a_summary_is_no_part_of_the_answer() -> None:
    assert read_blocks(build_step(content=({"type": "text", "text": "They talked."},), summarizes=3), None, None) == ()


def test_calls_of_a_reply_that_was_cut_are_left_out() -> None:
    assert read_blocks(build_step(content=(USE,), stop_reason="max_tokens"), None, None) == ()
