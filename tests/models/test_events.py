"""The reader of server-sent events: what it takes for an event, however the bytes arrive, and what it refuses."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.models.assembly import REPLY_BYTES_MAX, ProviderBrokeOffError, ReplyAssembly
from ferryman.models.events import EVENT_BYTES_MAX, STREAM_BYTES_MAX, EventReader, UnreadableReplyError
from ferryman.models.storable import DEPTH_MAX
from tests.linear import find_growth

STARTED = {"type": "message_start", "message": {"usage": {"input_tokens": 7}}}
ENDED = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "http_get", "input": {}}


def read(*chunks: bytes) -> list[bytes]:
    reader = EventReader()
    return [data for chunk in chunks for data in reader.feed(chunk)]


def add(*events: Any) -> ReplyAssembly:
    assembly = ReplyAssembly()
    for event in events:
        assembly.add(event if isinstance(event, bytes) else json.dumps(event).encode())
    return assembly


def start(block: Any, index: Any = 0) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def stop(index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def write_arguments(text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}}


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_an_event_ends_with_an_empty_line_whatever_ends_its_lines(end: str) -> None:
    lines = [
        "event: a",
        "data: one",
        "",
        ": a comment",
        "id: 4",
        "data:two",
        "data:  three",
        "retry: 1",
        "",
        "data",
        "",
        "data: cut",
    ]
    assert read(end.join(lines).encode()) == [b"one", b"two\n three", b""]


@given(st.lists(st.text(alphabet="ab :\u2028\x85é", max_size=12)), st.sampled_from(["\n", "\r", "\r\n"]), st.data())
def test_events_are_the_same_however_their_bytes_arrive(texts: list[str], end: str, data: st.DataObject) -> None:
    stream = "".join(f"data: {text}{end}{end}" for text in texts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    chunks = [stream[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert read(*chunks) == [text.encode() for text in texts]


@pytest.mark.parametrize(
    "make", [lambda size: b"data: " + b"x" * size, lambda size: b"data:\n" * (size // 6), lambda size: b"\n" * size]
)
def test_it_takes_linear_time_for_a_stream_in_single_bytes(make: Any) -> None:
    def feed(stream: bytes) -> None:
        reader = EventReader()
        for number in range(len(stream)):
            list(reader.feed(stream[number : number + 1]))

    assert find_growth(feed, make, sizes=(8_192, 16_384, 32_768, 65_536)) is None


def test_an_event_that_never_ends_is_refused() -> None:
    with pytest.raises(UnreadableReplyError, match="one event"):
        read(b"data: ", *[b"x" * 65_536] * (EVENT_BYTES_MAX // 65_536 + 1))


def test_a_stream_that_never_ends_is_refused() -> None:
    event = b"data: " + b"x" * 8_192 + b"\n\n"  # few and long: each by itself takes time
    with pytest.raises(UnreadableReplyError, match=str(STREAM_BYTES_MAX)):
        read(*[event] * (STREAM_BYTES_MAX // len(event) + 1))


def test_blocks_that_the_journal_cannot_hold_are_refused_as_they_arrive() -> None:
    block = start({"type": "dream", "parts": [[]] * (REPLY_BYTES_MAX // 4)})
    tracemalloc.start()
    with pytest.raises(UnreadableReplyError, match=str(REPLY_BYTES_MAX)):
        add(STARTED, block)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32 * 2**20


def test_letters_that_take_several_bytes_count_as_them() -> None:
    letters = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "€" * 100_000}}
    assembly = add(STARTED, start({"type": "text", "text": ""}), letters, letters, letters, letters, stop(), ENDED)
    with pytest.raises(UnreadableReplyError, match=str(REPLY_BYTES_MAX)):
        assembly.build()


@pytest.mark.parametrize(
    "events",
    [
        [b"{"],
        [b"\xff"],
        [b"[]"],
        [b"[" * 100_000],
        [start("text")],
        [start({"type": ["text"]})],
        [start({"type": "text", "text": ""}, 1)],
        [start({"type": "text", "text": ""}, True)],
        [stop()],
        [start(CALL), stop(), write_arguments("{}")],
        [start(CALL), {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": None}}],
        [{"type": "message_start", "message": []}],
        [{"type": "message_start", "message": {"usage": {"input_tokens": -1}}}],
        [{"type": "message_start", "message": {"usage": {"input_tokens": 10**30}}}],
        [{"type": "message_start", "message": {"usage": {"input_tokens": "7"}}}],
    ],
)
def test_an_event_that_is_none_is_refused(events: list[Any]) -> None:
    with pytest.raises(UnreadableReplyError):
        add(*events)


@pytest.mark.parametrize(
    "arguments", ['{"body": {"hush": tr', '{"hush":}', "[" * 100_000, f"{'[' * DEPTH_MAX}{']' * DEPTH_MAX}"]
)
def test_arguments_that_cannot_be_read_are_refused_without_their_text(arguments: str) -> None:
    assembly = add(STARTED, start(CALL), write_arguments(arguments), stop(), ENDED)
    with pytest.raises(UnreadableReplyError) as refused:
        assembly.build()
    assert "hush" not in str(refused.value)


def test_the_arguments_of_a_reply_that_was_cut_are_kept_as_a_text() -> None:
    cut = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}
    (block,) = add(STARTED, start(CALL), write_arguments('{"a": tr'), stop(), cut).build().content
    assert block["input"] == {"": '{"a": tr'}


@pytest.mark.parametrize("missing", ["id", "name"])
def test_a_call_without_its_name_or_id_is_refused(missing: str) -> None:
    assembly = add(STARTED, start({name: value for name, value in CALL.items() if name != missing}), stop(), ENDED)
    with pytest.raises(UnreadableReplyError):
        assembly.build()


def test_a_reply_is_whole_once_every_block_has_ended_and_a_reason_is_given() -> None:
    wholes = [
        add(*events).is_whole for events in ([STARTED], [STARTED, start(CALL), ENDED], [STARTED, start(CALL), stop(), ENDED])
    ]
    assert wholes == [False, False, True]


def test_tokens_are_totals_and_those_that_are_missing_stay_as_they_were() -> None:
    more = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9, "cache_read_input_tokens": 2}}
    usage = add(STARTED, more, ENDED).build().usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (7, 5, 2, 0)


def test_a_provider_that_breaks_off_says_so() -> None:
    with pytest.raises(ProviderBrokeOffError):
        add(STARTED, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})


def test_events_that_nobody_knows_are_passed_over() -> None:
    assert add(STARTED, {"type": "ping"}, {"type": ["a"]}, {"type": "dream"}, ENDED).build().content == ()
