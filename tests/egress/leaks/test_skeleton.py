"""Skeletons: what of a text is searched, and where in the text that is."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.egress.leaks.skeleton import BLOCK, build_difference_list, locate, reduce_to_skeleton, rotate_letters

SHIFT = [str.maketrans("abcdefghijklmnopqrstuvwxyz", ("abcdefghijklmnopqrstuvwxyz" * 2)[by : by + 26]) for by in range(26)]


def is_kept(character: str) -> bool:
    return character.isascii() and character.isalnum()


@given(text=st.text())
def test_a_skeleton_is_the_letters_and_digits_in_lower_case(text: str) -> None:
    bare = "".join(filter(is_kept, text)).lower().encode()
    assert reduce_to_skeleton(text) == bare
    if text.isascii():
        assert reduce_to_skeleton(text.encode()) == bare


@given(bare=st.text("abcdefghijklmnopqrstuvwxyz0123456789").map(str.encode))
def test_rotating_is_rot13(bare: bytes) -> None:
    assert rotate_letters(bare) == codecs.encode(bare.decode(), "rot13").encode()


@pytest.mark.parametrize(
    ("bare", "steps"),
    [(b"", b""), (b"q", b""), (b"7", b""), (b"ab", b"b"), (b"ba", b"z"), (b"az", b"z"), (b"a1b2d", b"bc"), (b"zzz", b"aa")],
)
def test_differences_are_the_distances_of_neighbouring_letters(bare: bytes, steps: bytes) -> None:
    assert build_difference_list(bare) == steps


@given(text=st.text("abcdefghijklmnopqrstuvwxyz", max_size=60), by=st.integers(0, 25))
def test_a_shift_of_all_letters_changes_no_difference(text: str, by: int) -> None:
    assert build_difference_list(text.translate(SHIFT[by]).encode()) == build_difference_list(text.encode())


@given(text=st.text(st.sampled_from("aZ0 -é\n"), max_size=40), before=st.sampled_from([0, 1, BLOCK - 3, BLOCK, 2 * BLOCK - 2]))
def test_every_byte_of_a_skeleton_is_located(text: str, before: int) -> None:
    text = ". a"[before % 3] * before + text
    places = [index for index, character in enumerate(text) if is_kept(character)]
    indexes = range(len(places))
    assert locate(text, indexes) == dict(zip(indexes, places, strict=True))
    assert locate(text, list(indexes)[-1:]) == {index: places[index] for index in list(indexes)[-1:]}
