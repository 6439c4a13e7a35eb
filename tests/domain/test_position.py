"""Positions in a stream: each is read from the id that it is written as, and nothing else is one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.conversations.live import LiveBlock, LivePosition, locate_end
from ferryman.domain.conversations.position import (
    BEGINNING,
    POSITION_CHARACTERS_MAX,
    START_OF_TURN,
    Stage,
    StreamPosition,
    parse_position,
)

EVENTS = st.integers(0, 999_999_999)
PLACES = st.builds(
    LivePosition, st.integers(0, 9_999), st.integers(0, 999_999_999), st.text("0123456789abcdef", min_size=12, max_size=12)
)
POSITIONS = st.one_of(
    st.builds(StreamPosition, event=EVENTS, stage=st.sampled_from(Stage)),
    st.builds(StreamPosition, event=EVENTS, calls=st.integers(1, 9_999)),
    st.builds(
        StreamPosition,
        event=EVENTS,
        live=PLACES,
        generation=st.integers(0, 999_999),
        call=st.none() | st.integers(0, 9_999),
        is_ended=st.booleans(),
    ),
)


@given(POSITIONS)
def test_a_position_is_read_as_it_is_written(position: StreamPosition):
    assert parse_position(str(position)) == position


@given(POSITIONS)
def test_a_position_is_short(position: StreamPosition):
    assert len(str(position)) <= POSITION_CHARACTERS_MAX


def test_the_position_after_an_event_is_its_number():
    assert str(StreamPosition(event=7)) == "7"


def test_a_place_in_a_text_is_none_at_the_start_of_the_turn():
    assert not StreamPosition(event=1, live=locate_end([LiveBlock("Hello")])).is_at_start


def test_a_turn_of_which_nothing_was_seen_is_at_its_start():
    assert StreamPosition(event=1, live=START_OF_TURN).is_at_start


def test_nothing_was_seen_at_the_beginning():
    assert str(BEGINNING) == "0"


@pytest.mark.parametrize(
    "text",
    ["", "x", "-1", "7-", "7-0-1", "7-0-1-xyz", "7-0-1-0123456789ab-", "9" * 10, "７", "7\n", "7-q", "7-k", "7-z-e", "7-k1-z"],
)
def test_what_is_no_position_is_none(text: str):
    assert parse_position(text) is None
