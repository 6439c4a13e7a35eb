"""Positions in a turn under way: anyone who has the text can tell whether it goes on from what was seen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.conversations.live import (
    LiveBlock,
    LivePosition,
    LiveTurn,
    digest_seen,
    is_continued,
    is_part,
    locate_end,
)

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20)
BLOCKS = st.lists(st.builds(LiveBlock, TEXT, st.sampled_from(["", "tc_1"]), st.sampled_from(["", "web_fetch"])), max_size=5)


def shorten(blocks: list[LiveBlock], characters: int) -> list[LiveBlock]:
    """Return the blocks as they were after so many characters."""
    remaining, seen = characters, []
    for block in blocks:
        if remaining <= 0:
            break
        seen.append(LiveBlock(block.text[:remaining], block.call, block.name))
        remaining -= len(block.text)
    return seen


@given(BLOCKS, st.integers(0, 120))
def test_a_turn_goes_on_from_every_place_in_it(blocks: list[LiveBlock], characters: int):
    assert is_continued(blocks, locate_end(shorten(blocks, characters)))


@given(BLOCKS, st.integers(1, 120), st.data())
def test_a_turn_does_not_go_on_from_what_was_otherwise(blocks: list[LiveBlock], characters: int, data: st.DataObject):
    seen = shorten(blocks, characters)
    if not seen:
        return
    number = data.draw(st.integers(0, len(seen) - 1))
    place = data.draw(st.integers(0, len(seen[number].text) - 1))
    text = seen[number].text
    other = "x" if text[place] != "x" else "y"
    changed = [*blocks]
    whole = changed[number].text
    changed[number] = LiveBlock(whole[:place] + other + whole[place + 1 :], changed[number].call, changed[number].name)
    assert not is_continued(changed, locate_end(seen))


@given(BLOCKS)
def test_a_shorter_turn_does_not_go_on(blocks: list[LiveBlock]):
    assert is_continued(blocks[:-1], locate_end(blocks)) == (not blocks)


def test_two_blocks_are_told_from_one_of_both_texts():
    assert locate_end([LiveBlock("ab"), LiveBlock("c")]).digest != locate_end([LiveBlock("abc")]).digest


def test_a_place_beyond_the_turn_is_not_in_it():
    assert not is_continued([LiveBlock("Hello")], LivePosition(0, 6, digest_seen((), "Hello!", LiveBlock("Hello!"))))


def test_a_place_behind_the_end_of_a_text_is_not_in_it():
    assert not is_continued([LiveBlock("Hello")], LivePosition(0, 9, digest_seen((), "Hello", LiveBlock("Hello"))))


def test_half_of_a_character_has_a_digest_too():
    assert digest_seen((LiveBlock("\ud800"),), "") != digest_seen((LiveBlock("?"),), "")


CALL = LiveBlock('{"a": 1', call="t1", name="http_get")
NEWEST = LiveTurn(event=2, blocks=(LiveBlock("In Harwich."), CALL))


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ((), True),
        ((LiveBlock("In "),), True),
        ((LiveBlock("In Harwich."),), True),
        ((LiveBlock("In Harwich."), replace(CALL, text='{"a"')), True),
        (NEWEST.blocks, False),
        ((LiveBlock("At "),), False),
        ((LiveBlock("In "), CALL), False),
        ((LiveBlock("In Harwich."), replace(CALL, call="t2")), False),
        ((*NEWEST.blocks, LiveBlock("")), False),
        ((LiveBlock("In Harwich. There."),), False),
    ],
)
def test_a_turn_of_which_more_is_known_is_a_part(blocks: tuple[LiveBlock, ...], *, expected: bool) -> None:
    assert is_part(LiveTurn(event=2, blocks=blocks), NEWEST) is expected


def test_another_turn_is_no_part() -> None:
    assert not is_part(LiveTurn(event=4), NEWEST)
