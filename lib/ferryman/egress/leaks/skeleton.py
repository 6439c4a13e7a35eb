"""Skeleton: a text reduced to lower-case letters and digits, independent of case, wrapping, padding and separators."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import AnyStr

BLOCK = 4_096  # characters of a text that are located at a time
_ALPHANUMERIC = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LOWER = bytes(range(256)).lower()
_OTHER = bytes(set(range(256)) - set(_ALPHANUMERIC))
_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
_ORDINAL = bytes.maketrans(_LETTERS, bytes(range(26)))
_ROT13 = bytes.maketrans(_LETTERS, _LETTERS[13:] + _LETTERS[:13])
_STEP = bytes(_LETTERS[code % 26] for code in range(256))


def reduce_to_skeleton(text: str | bytes) -> bytes:
    """Return the skeleton of `text`."""
    if isinstance(text, str):
        text = text.encode("ascii", "ignore")
    return text.translate(_LOWER, _OTHER)


def rotate_letters(bare: bytes) -> bytes:
    """Return a skeleton with its letters rotated by thirteen (ROT13)."""
    return bare.translate(_ROT13)


def build_difference_list(bare: bytes) -> bytes:
    """Return the distances in the alphabet between neighbouring letters of a skeleton, as letters (a: 0).

    A shift of all letters does not change them.
    """
    letters = bare.translate(_ORDINAL, b"0123456789")
    count = len(letters) - 1
    if count < 1:
        return b""
    # One subtraction of two long numbers subtracts all bytes; 26 more in each prevents borrows.
    onward = int.from_bytes(letters[1:], "big") + int.from_bytes(b"\x1a" * count, "big")
    return (onward - int.from_bytes(letters[:-1], "big")).to_bytes(count, "big").translate(_STEP)


def locate(text: str, indexes: Iterable[int]) -> dict[int, int]:
    """Return the places in `text` of the bytes of its skeleton at `indexes`: characters by byte.

    Only blocks that hold one of them are read character by character: a list for the whole text would be many times as large.
    """
    ordered = sorted(indexes)
    located: dict[int, int] = {}
    passed = done = 0
    for first in range(0, len(text), BLOCK):
        block = text[first : first + BLOCK]
        passed_after = passed + len(reduce_to_skeleton(block))
        last = bisect_left(ordered, passed_after, done)
        if last > done:
            places = [index for index, character in enumerate(block, first) if character.isascii() and character.isalnum()]
            located.update((index, places[index - passed]) for index in ordered[done:last])
        passed, done = passed_after, last
        if done == len(ordered):
            break
    return located


def find_occurrences(text: AnyStr, value: AnyStr) -> Iterator[int]:
    """Yield the places where `value` begins in `text`."""
    start = text.find(value)
    while start >= 0:
        yield start
        start = text.find(value, start + len(value))
