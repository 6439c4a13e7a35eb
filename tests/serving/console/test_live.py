"""Live pages: events of the API's stream, read from whatever pieces they come in."""

from __future__ import annotations

from collections.abc import AsyncIterator

from hypothesis import given
from hypothesis import strategies as st

from ferryman.serving.console.live import RelayedEvent, read_events

STREAM = b': hello\n\nid: 1\nevent: turn\ndata: {"a": 1}\n\n: still here\n\nid: 2\ndata: {"b": "\\u00e9"}\n\n'
EVENTS = [RelayedEvent(id="1", kind="turn", data={"a": 1}), RelayedEvent(id="2", kind="message", data={"b": "é"})]


async def split(places: list[int]) -> AsyncIterator[bytes]:
    for start, end in zip([0, *places], [*places, len(STREAM)], strict=True):
        yield STREAM[start:end]


@given(places=st.lists(st.integers(0, len(STREAM)), max_size=8).map(sorted))
async def test_events_are_the_same_in_whatever_pieces_they_come(places: list[int]) -> None:
    assert [event async for event in read_events(split(places))] == EVENTS
