"""Breakpoints of the prompt cache: where they are, and that a turn reads what the turn before has written."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from emulator.messages.cache import PromptCache
from ferryman.domain.executions.message import Message, Prompt
from ferryman.domain.operator_model import OperatorModel
from ferryman.models.breakpoints import BREAKPOINT, mark_messages, mark_system, mark_tools
from ferryman.models.request import encode
from tests.builders import START

TOOLS = [{"name": f"tool_{number}", "description": "x" * 200, "input_schema": {"type": "object"}} for number in range(5)]


def mark(messages: list[Message]) -> list[Message]:
    return [json.loads(message) for message in mark_messages(messages, [json.dumps(message).encode() for message in messages])]


def list_marked(messages: list[Message]) -> list[tuple[int, int]]:
    """Return the places of marked blocks, by message and block."""
    marked = mark(messages)
    return [
        (number, at)
        for number, message in enumerate(marked)
        if isinstance(message["content"], list)
        for at, block in enumerate(message["content"])
        if "cache_control" in block
    ]


def ask(*texts: str) -> Message:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def answer(*blocks: dict[str, Any]) -> Message:
    return {"role": "assistant", "content": list(blocks)}


TEXT = {"type": "text", "text": "So."}
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def test_the_last_tool_that_is_not_deferred_is_marked():
    marked = mark_tools([*TOOLS, {"name": "rare", "defer_loading": True}])
    assert ["cache_control" in tool for tool in marked] == [False, False, False, False, True, False]


def test_no_tool_has_no_breakpoint():
    assert mark_tools([]) == []


def test_an_empty_system_prompt_is_no_block():
    assert mark_system("") == ""


def test_the_last_message_and_the_one_that_the_request_before_ended_with_are_marked():
    assert list_marked([ask("a"), answer(TEXT), ask("b"), answer(TEXT), ask("c", "d")]) == [(2, 0), (4, 1)]


def test_the_first_request_has_one():
    assert list_marked([{"role": "user", "content": "a"}]) == [(0, 0)]


def test_a_turn_that_goes_on_is_marked_before_its_thinking():
    assert list_marked([ask("a"), answer(TEXT, THINKING)]) == [(0, 0), (1, 0)]


def test_nothing_but_the_marks_is_changed():
    messages = [ask("a"), answer(TEXT, THINKING), {"role": "user", "content": "b"}]
    marked = mark(messages)
    for message in marked:
        for block in message["content"]:
            block.pop("cache_control", None)
    assert marked == [*messages[:2], ask("b")]


def test_a_server_of_the_operator_gets_none():
    served = OperatorModel(name="llama", url="https://models.test", served_as="llama", price={})
    prompt = Prompt(model="m", system="s", messages=(ask("a"),), tools=TOOLS, max_tokens=1)
    assert b"cache_control" not in encode(prompt, served, is_vertex=False)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=5))
def test_a_turn_reads_all_that_the_turn_before_was_asked_with(calls: list[int]):
    cache, messages, before = PromptCache(), [ask("Begin. " + "a word " * 700)], 0
    for count in calls:
        body = json.loads(encode(build_prompt(messages), None, is_vertex=False))
        use = cache.use(body, START)
        assert use.read >= 0.95 * before
        before = use.read + use.written + use.rest
        ids = [f"{len(messages)}_{number}" for number in range(count)]
        uses = [{"type": "tool_use", "id": call, "name": "tool_1", "input": {}} for call in ids]
        results = [{"type": "tool_result", "tool_use_id": call, "content": "done"} for call in ids]
        messages += [answer(*uses), {"role": "user", "content": results}]


def build_prompt(messages: list[Message]) -> Prompt:
    return Prompt(model="scripted", system="Be brief. " * 20, messages=tuple(messages), tools=TOOLS, max_tokens=100)


def test_an_execution_reads_the_tools_and_the_preamble_of_another():
    cache, preamble = PromptCache(), "Keep to the rules. " * 300
    for text in ("a", "b"):
        prompt = Prompt(model="scripted", system=preamble, messages=(ask(text),), tools=TOOLS, max_tokens=1)
        use = cache.use(json.loads(encode(prompt, None, is_vertex=False)), START)
    assert use.rest + use.written < 40 < use.read


def test_there_are_four_at_most():
    prompt = build_prompt([ask("a"), answer(TEXT), ask("b"), answer(TEXT), ask("c")])
    assert encode(prompt, None, is_vertex=False).count(json.dumps(BREAKPOINT["cache_control"]).encode()) <= 4
    assert encode(prompt, None, is_vertex=False).count(b"cache_control") == 4
