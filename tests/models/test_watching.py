"""What a model writes, as it writes it: the parts of each text and call are its whole."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.executions.message import Reply, ReplyDelta
from ferryman.domain.executions.usage import Usage
from ferryman.inmemory.model import ScriptedModel
from ferryman.models.assembly import ReplyAssembly
from ferryman.ports.errors import UnavailableError
from tests.models.test_anthropic import PROMPT
from tests.models.test_blocks import FUTURE
from tests.models.test_streams import BEGUN, CUT, answering


class Watcher:
    """`ports.ReplyWatcher` that keeps what it is given."""

    def __init__(self) -> None:
        self.deltas: list[ReplyDelta] = []
        self.has_begun = asyncio.Event()
        self.broken_off: list[tuple[Usage, int]] = []

    def add(self, delta: ReplyDelta) -> None:
        self.deltas.append(delta)
        if delta.text:
            self.has_begun.set()

    def break_off(self, usage: Usage, characters: int) -> None:
        self.broken_off.append((usage, characters))

    def join(self) -> dict[int, str]:
        texts: dict[int, str] = {}
        for delta in self.deltas:
            texts[delta.index] = texts.get(delta.index, "") + delta.text
        return texts


def tell(*events: dict[str, object]) -> list[ReplyDelta | None]:
    assembly = ReplyAssembly()
    return [assembly.add(json.dumps(event).encode()) for event in events]


def test_a_block_begins_with_its_names_and_grows_by_its_deltas():
    call = {"type": "tool_use", "id": "tc_1", "name": "web_fetch", "input": {}}
    deltas = tell(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me "}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": call},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"url"'}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    )
    assert [delta for delta in deltas if delta is not None] == [
        ReplyDelta(0, ""),
        ReplyDelta(0, "Let me "),
        ReplyDelta(1, "", "tc_1", "web_fetch"),
        ReplyDelta(1, '{"url"', "tc_1", "web_fetch"),
    ]


@pytest.mark.parametrize(
    "block", [FUTURE, {"type": "thinking", "thinking": "secret"}, {"type": "redacted_thinking", "data": "x"}]
)
def test_nothing_is_told_of_a_block_that_is_neither_text_nor_call(block: dict[str, object]):
    assert tell({"type": "content_block_start", "index": 0, "content_block": block}) == [None]


def test_a_delta_that_is_no_text_is_not_told():
    begun = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    citation = {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {"text": "a"}}}
    assert tell(begun, citation)[1] is None


async def test_what_came_before_a_stream_broke_was_told() -> None:
    watcher = Watcher()
    async with answering(BEGUN, CUT) as model:
        with pytest.raises(UnavailableError):
            await model.reply(PROMPT, watcher=watcher)
    assert watcher.join() == {0: '{"body":{"delete":true,"dry'}


async def test_of_a_reply_that_is_broken_off_it_is_told_what_was_counted() -> None:
    watcher, written = Watcher(), '{"body":{"delete":true,"dry'
    async with answering(BEGUN, CUT, stays=True) as model:
        asking = asyncio.create_task(model.reply(PROMPT, watcher=watcher))
        await watcher.has_begun.wait()
        asking.cancel()
        await asyncio.wait([asking])
    ((usage, characters),) = watcher.broken_off
    assert usage == Usage(input_tokens=10, output_tokens=1)
    assert characters >= len(written)


@given(st.lists(st.one_of(st.text(max_size=80).map(lambda text: {"type": "text", "text": text}), st.just(FUTURE)), max_size=4))
def test_the_words_of_a_reply_are_its_texts(content: list[dict[str, object]]):
    watcher = Watcher()
    reply = Reply(content=tuple(content), stop_reason="end_turn", usage=Usage())
    asyncio.run(ScriptedModel([reply]).reply(PROMPT, watcher=watcher))
    assert watcher.join() == {number: block["text"] for number, block in enumerate(content) if block["type"] == "text"}
