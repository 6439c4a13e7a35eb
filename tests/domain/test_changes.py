"""A change of the turn under way, written by one process and applied by another, gives the same turn."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.conversations.changes import apply_change, write_change
from ferryman.domain.conversations.live import LiveBlock, LiveTurn

BLOCKS = st.builds(LiveBlock, st.text("ab", max_size=6), st.sampled_from(["", "toolu_1"]), st.sampled_from(["", "http_get"]))
TURNS = st.builds(LiveTurn, event=st.integers(2, 3), blocks=st.lists(BLOCKS, max_size=3).map(tuple))


@given(st.lists(TURNS, min_size=1, max_size=6))
def test_all_changes_give_the_same_turn(turns: list[LiveTurn]) -> None:
    sent, received = None, None
    for turn in turns:
        received = apply_change(received, json.loads(json.dumps(write_change(sent, turn))))
        assert received == turn
        sent = turn


def test_of_a_text_that_goes_on_only_the_rest_is_sent() -> None:
    before = LiveTurn(event=2, blocks=(LiveBlock("In Harwich"),))
    after = LiveTurn(event=2, blocks=(LiveBlock("In Harwich."), LiveBlock("{", "toolu_1", "http_get")))
    assert write_change(before, after) == {
        "event": 2,
        "block": 0,
        "offset": 10,
        "blocks": [["", "", "."], ["toolu_1", "http_get", "{"]],
    }


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"event": 2, "block": 0, "offset": 0},
        {"event": 2, "block": 3, "offset": 0, "blocks": []},
        {"event": 2, "block": -1, "offset": 0, "blocks": []},
        {"event": 2, "block": 0, "offset": 1, "blocks": []},
        {"event": 2, "block": 0, "offset": 0, "blocks": [["x"]]},
        {"event": "two", "block": 0, "offset": 0, "blocks": []},
    ],
)
def test_what_is_no_change_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no change"):
        apply_change(None, change)


def test_a_change_of_another_turn_does_not_go_on_from_this_one() -> None:
    with pytest.raises(ValueError, match="no change"):
        apply_change(LiveTurn(event=2, blocks=(LiveBlock("a"),)), {"event": 4, "block": 1, "offset": 0, "blocks": []})
