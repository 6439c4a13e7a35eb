"""The history: what is encoded, measured and digested once, beside what is encoded whole."""

from __future__ import annotations

import json
from collections.abc import ItemsView
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.executions.history import MessageHistory
from ferryman.domain.executions.message import Prompt, canonicalize_prompt, digest_prompt

TOOLS = ({"name": "é", "input_schema": {"b": 1, "a": [2.5, None, True]}},)
FURTHER = ({"name": "found", "input_schema": {}}, {"name": "further", "input_schema": {}})
CONTENTS = st.text() | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": st.text()}), max_size=3)
MESSAGES = st.lists(st.fixed_dictionaries({"role": st.sampled_from(("user", "assistant")), "content": CONTENTS}), max_size=6)


class CountingMessage(dict[str, Any]):
    """A message that counts how often it is encoded."""

    encodings = 0

    def items(self) -> ItemsView[str, Any]:
        self.encodings += 1
        return super().items()


def build_history(messages: list[dict[str, Any]], system: str = "s") -> MessageHistory:
    history = MessageHistory(system, TOOLS)
    for message in messages:
        history.append(message)
    return history


@given(st.text(), MESSAGES)
def test_it_is_digested_and_measured_as_the_whole_prompt_would_be(system: str, messages: list[dict[str, Any]]) -> None:
    history, canonical = build_history(messages, system), canonicalize_prompt(system, TOOLS, messages)
    assert (history.digest(), history.measure()) == (digest_prompt(canonical), len(canonical))


@given(MESSAGES.filter(bool))
def test_its_size_without_the_last_messages_is_what_it_was_before_them(messages: list[dict[str, Any]]) -> None:
    sizes = [build_history(messages[:count]).measure() for count in range(len(messages) + 1)]
    assert [build_history(messages).measure(without=count) for count in range(len(messages) + 1)] == sizes[::-1]


@given(MESSAGES.filter(bool), MESSAGES)
def test_tools_that_are_added_count_with_the_message_that_found_them(
    earlier: list[dict[str, Any]], later: list[dict[str, Any]]
) -> None:
    history = build_history(earlier)
    before = build_history(earlier[:-1]).measure()
    history.add_tools(FURTHER)
    for message in later:
        history.append(message)
    canonical = canonicalize_prompt("s", [*TOOLS, *FURTHER], earlier + later)
    assert (history.digest(), history.measure()) == (digest_prompt(canonical), len(canonical))
    assert (history.measure(without=len(later) + 1), history.tools) == (before, (*TOOLS, *FURTHER))


@given(MESSAGES)
def test_encoded_it_is_the_json_of_its_messages(messages: list[dict[str, Any]]) -> None:
    encoded = build_history(messages).encoded
    assert list(map(json.loads, encoded)) == messages
    assert [*encoded] == Prompt(model="m", system="s", messages=messages, max_tokens=1).encode_messages()


@given(MESSAGES, MESSAGES)
def test_a_later_prompt_begins_with_the_same_bytes(earlier: list[dict[str, Any]], later: list[dict[str, Any]]) -> None:
    assert build_history(earlier + later).encoded[: len(earlier)] == build_history(earlier).encoded


def test_a_message_is_encoded_once_however_many_turns_follow() -> None:
    history, messages = MessageHistory("s", TOOLS), [CountingMessage(role="user", content=str(number)) for number in range(5)]
    for message in messages:
        history.append(message)
        history.measure(), history.digest(), history.encoded
    assert [message.encodings for message in messages] == [1] * 5
