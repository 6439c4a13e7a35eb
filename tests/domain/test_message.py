"""Messages: the blocks of a reply and of an answer, and the digest of a prompt."""

from __future__ import annotations

import hashlib

from ferryman.domain.calls.call import ToolCall
from ferryman.domain.executions import message
from ferryman.domain.executions.message import Reply
from ferryman.domain.executions.usage import Usage

CONTENT = (
    {"type": "text", "text": "First."},
    {"type": "tool_use", "id": "c1", "name": "http_get", "input": {"url": "u"}},
    {"type": "thinking", "thinking": "hm"},
    {"type": "tool_use", "id": "c2", "name": "webhook", "input": {}},
    {"type": "text", "text": "Last."},
)
REPLY = Reply(content=CONTENT, stop_reason="tool_use", usage=Usage())


def test_the_text_of_a_reply_is_that_of_its_text_blocks_a_line_each() -> None:
    assert REPLY.text == message.join_text(CONTENT) == "First.\nLast."


def test_the_calls_of_a_reply_are_its_tool_uses_in_order() -> None:
    assert REPLY.calls == message.extract_calls(CONTENT)
    assert REPLY.calls == (
        ToolCall(id="c1", name="http_get", arguments={"url": "u"}),
        ToolCall(id="c2", name="webhook", arguments={}),
    )


def test_a_prompt_is_canonical_whatever_the_order_of_its_names() -> None:
    tools, messages = ({"b": 1, "a": "é"},), [{"role": "user", "content": "x"}]
    canonical = message.canonicalize_prompt("s", tools, messages)
    assert canonical == b'["s", [{"a": "\\u00e9", "b": 1}], [{"content": "x", "role": "user"}]]'
    assert canonical == message.canonicalize_prompt("s", [{"a": "é", "b": 1}], ({"content": "x", "role": "user"},))


def test_the_digest_of_a_prompt_is_its_sha_256_in_hex() -> None:
    assert message.digest_prompt(b"[]") == hashlib.sha256(b"[]").hexdigest()


def test_the_answer_to_a_tool_use_names_it_and_is_an_error_where_it_says_so() -> None:
    answer = {"type": "tool_result", "tool_use_id": "c1", "content": "x"}
    assert message.build_tool_result("c1", "x", is_error=False) == answer
    assert message.build_tool_result("c1", "x", is_error=True) == {**answer, "is_error": True}


def test_usage_adds_up_by_kind_of_token() -> None:
    first = Usage(input_tokens=1, output_tokens=2, cache_read_tokens=3, cache_write_tokens=4)
    second = Usage(input_tokens=10, output_tokens=20, cache_read_tokens=30, cache_write_tokens=40)
    assert first + second == Usage(input_tokens=11, output_tokens=22, cache_read_tokens=33, cache_write_tokens=44)
