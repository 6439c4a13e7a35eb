"""Every block and delta that the SDK's own types know, through the stream and into a reply: nothing is changed or left out.

The unions are the SDK's: a block or a delta that a later version adds is streamed here, too, or fails a test.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, get_args

import anthropic
import pytest
from anthropic.types import ContentBlock, RawContentBlockDelta, StopReason
from anthropic.types.beta import BetaContentBlock, BetaRawContentBlockDelta, BetaStopReason

from emulator.messages import Messages, reply
from emulator.web import Web, port_of
from ferryman.models.anthropic import AnthropicModel
from ferryman.models.assembly import STOP_REASONS, ReplyAssembly
from ferryman.settings import Settings
from tests.models.sdk_types import build_examples, list_types
from tests.models.test_anthropic import PROMPT

BLOCKS = [*build_examples(ContentBlock), *build_examples(BetaContentBlock)]
FUTURE = {"type": "dream", "scenes": [[1, [2]], {"signature": "é\n"}], "text": "a part", "input": {"a": 1}}
WHOLE = {"content": [*BLOCKS, FUTURE], "stop_reason": "end_turn", "stop_sequence": None, "usage": {"output_tokens": 1}}


@pytest.fixture
async def service() -> AsyncIterator[tuple[Messages, str]]:
    messages, web = Messages(lambda key: key == "the token"), Web()
    address = f"http://127.0.0.1:{port_of(web.add(messages))}"
    await web.start()
    yield messages, address
    await web.close()


def assemble(*events: dict[str, Any]) -> ReplyAssembly:
    assembly = ReplyAssembly()
    for event in events:
        assembly.add(json.dumps(event).encode())
    return assembly


def stream_block(block: dict[str, Any], *deltas: dict[str, Any]) -> dict[str, Any]:
    """Return the block that a stream of these deltas makes."""
    assembly = assemble(
        {"type": "message_start", "message": {"usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    )
    (built,) = assembly.build().content
    return dict(built)


def list_streamed() -> list[dict[str, Any]]:
    """Return the data of the events that the scripted service sends for all blocks."""
    return [json.loads(event.partition(b"data: ")[2]) for event in reply.stream(WHOLE)]


async def test_every_block_of_the_sdk_and_an_unknown_one_arrive_as_they_were_sent(service: tuple[Messages, str]) -> None:
    service[0].put("play", {"steps": [{"blocks": [*BLOCKS, FUTURE]}]})
    model = AnthropicModel(Settings(scripted_model_url=service[1], local_token="the token"))
    answer = await model.reply(PROMPT)
    await model.close()
    assert list(answer.content) == [*BLOCKS, FUTURE]


async def test_the_sdk_reads_the_same_blocks_in_the_same_stream(service: tuple[Messages, str]) -> None:
    service[0].put("play", {"steps": [{"blocks": BLOCKS}]})
    ours = AnthropicModel(Settings(scripted_model_url=service[1], local_token="the token"))
    theirs = anthropic.AsyncAnthropic(base_url=service[1] + "/", api_key="the token", max_retries=0)
    answer = await ours.reply(PROMPT)
    async with theirs.messages.stream(
        model=PROMPT.model, system=PROMPT.system, messages=list(PROMPT.messages), max_tokens=100
    ) as stream:
        message = await stream.get_final_message()
    await ours.close()
    await theirs.close()
    known = list_types(ContentBlock)
    read = [block.to_dict() for block in message.content if block.type in known]
    assert read == [block for block in answer.content if block["type"] in known]


def test_the_streams_of_these_tests_have_every_delta_that_the_sdk_knows() -> None:
    streamed = {event["delta"]["type"] for event in list_streamed() if event["type"] == "content_block_delta"}
    assert streamed == list_types(RawContentBlockDelta) | list_types(BetaRawContentBlockDelta)


def test_every_stop_reason_of_the_sdk_is_kept() -> None:
    assert set(get_args(StopReason)) | set(get_args(BetaStopReason)) <= STOP_REASONS


def test_a_stop_reason_that_nobody_knows_is_not_repeated() -> None:
    assembly = assemble(
        {"type": "message_start", "message": {}}, {"type": "message_delta", "delta": {"stop_reason": "a stranger's text"}}
    )
    assert assembly.build().stop_reason == "unknown"


def test_texts_and_thoughts_grow_by_their_deltas_and_a_signature_replaces_the_one_before() -> None:
    assert stream_block(
        {"type": "thinking", "thinking": "a", "signature": "old"},
        {"type": "thinking_delta", "thinking": "b"},
        {"type": "thinking_delta", "thinking": "c"},
        {"type": "signature_delta", "signature": "new"},
    ) == {"type": "thinking", "thinking": "abc", "signature": "new"}


def test_citations_are_added_to_those_that_the_block_began_with() -> None:
    block = stream_block(
        {"type": "text", "text": "", "citations": [{"n": 1}]},
        {"type": "citations_delta", "citation": {"n": 2}},
        {"type": "text_delta", "text": "x"},
        {"type": "citations_delta", "citation": {"n": 3}},
    )
    assert block == {"type": "text", "text": "x", "citations": [{"n": 1}, {"n": 2}, {"n": 3}]}


def test_a_delta_of_an_unknown_type_sets_its_own_members_and_not_the_blocks_type() -> None:
    block = stream_block({"type": "dream", "scene": "a"}, {"type": "dream_delta", "scene": "b", "depth": 2})
    assert block == {"type": "dream", "scene": "b", "depth": 2}


def test_the_arguments_of_a_servers_tool_and_of_an_unknown_one_are_read() -> None:
    for kind in ("tool_use", "server_tool_use", "mcp_tool_use", "dream_tool_use"):
        begun = {"type": kind, "id": "x", "name": "y", "input": {}}
        parts = ('{"a": ', "[1", "]}")
        block = stream_block(begun, *({"type": "input_json_delta", "partial_json": part} for part in parts))
        assert block == {**begun, "input": {"a": [1]}}


def test_an_empty_text_is_left_out_since_the_api_takes_none_back() -> None:
    assembly = assemble(
        {"type": "message_start", "message": {"usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    )
    assert assembly.build().content == ()
