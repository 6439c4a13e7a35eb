"""Event streams are read alike in whatever pieces they come, in linear time, within bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.tools.mcp.protocol.bounds import EVENTS_MAX, LINES_MAX
from ferryman.tools.mcp.protocol.errors import AnswerTooLargeError
from ferryman.tools.mcp.protocol.event_stream import EventStreamReader, StreamEvent
from tests.linear import find_growth

LINES = st.sampled_from(
    (
        *(b"data: a", b"data:b", b"data:  c", b"data", b"event: message", b"event: ping"),
        *(b"id: 7", b"id", b": note", b"", b"retry: 5", b"x"),
    )
)
ENDS = st.sampled_from((b"\n", b"\r", b"\r\n"))


def read(*parts: bytes) -> list[StreamEvent]:
    reader = EventStreamReader()
    return [event for part in parts for event in reader.feed(part)]


STREAMS = {
    "data": (b"data: a\n\n", [StreamEvent("message", b"a")]),
    "only one space is the separator's": (b"data:  a\n\n", [StreamEvent("message", b" a")]),
    "lines of data are joined": (b"data: a\ndata: b\n\n", [StreamEvent("message", b"a\nb")]),
    "a type": (b"event: endpoint\ndata: a\n\n", [StreamEvent("endpoint", b"a")]),
    "a type of an event without data is forgotten": (b"event: x\n\ndata: a\n\n", [StreamEvent("message", b"a")]),
    "comments and unknown fields say nothing": (b": a\nhello: b\ndata: c\n\n", [StreamEvent("message", b"c")]),
    "empty data is no event": (b"id: 1\ndata:\n\n", []),
    "an end of any kind": (b"data: a\r\rdata: b\r\n\r\n", [StreamEvent("message", b"a"), StreamEvent("message", b"b")]),
    "a byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [StreamEvent("message", b"a")]),
    "what is not complete is no event": (b"data: a\n", []),
}


@pytest.mark.parametrize("kind", STREAMS)
def test_a_stream_is_read_as_the_standard_says(kind: str) -> None:
    text, events = STREAMS[kind]
    assert read(text) == events


@given(st.lists(st.tuples(LINES, ENDS), max_size=30), st.data())
def test_pieces_of_any_size_mean_the_same(lines: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    text = b"".join(line + end for line, end in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=20)))
    parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert read(*parts) == read(text)


@given(st.binary(max_size=400))
def test_any_bytes_are_read_alike_at_once_and_one_by_one(text: bytes) -> None:
    assert read(*(bytes((byte,)) for byte in text)) == read(text)


def test_the_last_id_is_where_to_go_on() -> None:
    reader = EventStreamReader()
    list(reader.feed(b"id: a1\ndata:\n\nretry: 1500\nid: a2\ndata: x\n\n"))
    assert (reader.last_id, reader.retry_s) == ("a2", 1.5)


@pytest.mark.parametrize("value", [b"a b", b"\xc3\xa9", b"a\x00", b"x" * 1_025, b""])
def test_an_id_that_no_header_can_have_is_none(value: bytes) -> None:
    reader = EventStreamReader()
    list(reader.feed(b"id: " + value + b"\ndata: x\n\n"))
    assert reader.last_id is None


def test_a_server_s_wait_is_bounded() -> None:
    reader = EventStreamReader()
    list(reader.feed(b"retry: 99999999\n"))
    assert reader.retry_s == 10.0


def test_too_many_lines_are_refused() -> None:
    reader = EventStreamReader()
    list(reader.feed(b"\n" * LINES_MAX))
    with pytest.raises(AnswerTooLargeError, match="20,000 lines"):
        list(reader.feed(b"\n"))


def test_too_many_events_are_refused() -> None:
    reader = EventStreamReader()
    list(reader.feed(b"data: x\n\n" * EVENTS_MAX))
    with pytest.raises(AnswerTooLargeError, match="2,000 events"):
        list(reader.feed(b"data: x\n\n"))


def test_bounds_count_over_the_connections_of_one_stream() -> None:
    reader = EventStreamReader()
    for _ in range(2):
        reader.restart()
        list(reader.feed(b"data: x\n\n" * (EVENTS_MAX // 2)))
    with pytest.raises(AnswerTooLargeError):
        list(reader.feed(b"data: x\n\n"))


def test_half_a_line_is_forgotten_with_its_connection() -> None:
    reader = EventStreamReader()
    list(reader.feed(b"data: hal"))
    reader.restart()
    assert list(reader.feed(b"data: b\n\n")) == [StreamEvent("message", b"b")]


@pytest.mark.parametrize("piece", [1, 7, 65_536])
def test_a_line_without_an_end_takes_linear_time(piece: int) -> None:
    def feed(text: bytes) -> None:
        reader = EventStreamReader()
        for start in range(0, len(text), piece):
            list(reader.feed(text[start : start + piece]))

    growth = find_growth(feed, lambda size: b"data: " + b"x" * size * 4)
    assert growth is None, str(growth)


def test_short_lines_take_linear_time() -> None:
    growth = find_growth(lambda text: list(EventStreamReader().feed(text)), lambda size: b"a\r\n" * min(size, LINES_MAX // 2))
    assert growth is None, str(growth)
