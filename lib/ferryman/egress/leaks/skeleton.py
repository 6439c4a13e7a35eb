"""Skeleton: a text reduced to its lower-case letters and digits, which makes case, wrapping, padding and separators equal."""

from __future__ import annotations

_ALPHANUMERIC = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LOWER = bytes(range(256)).lower()
_OTHER = bytes(set(range(256)) - set(_ALPHANUMERIC))
_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
_ORDINAL = bytes.maketrans(_LETTERS, bytes(range(26)))
_STEP = bytes(_LETTERS[code % 26] for code in range(256))


def skeleton(text: str | bytes) -> bytes:
    """What remains of `text` for comparison."""
    if isinstance(text, str):
        text = text.encode("ascii", "ignore")
    return text.translate(_LOWER, _OTHER)


def steps(bare: bytes) -> bytes:
    """From letter to letter of a skeleton, how far on in the alphabet (a: not at all): a shift of all letters leaves it so."""
    letters = bare.translate(_ORDINAL, b"0123456789")
    count = len(letters) - 1
    if count < 1:
        return b""
    # One subtraction of two long numbers subtracts all bytes; 26 more in each leaves nothing to borrow.
    onward = int.from_bytes(letters[1:], "big") + int.from_bytes(b"\x1a" * count, "big")
    return (onward - int.from_bytes(letters[:-1], "big")).to_bytes(count, "big").translate(_STEP)


def positions(text: str) -> list[int]:
    """Where in `text` each byte of its skeleton stands."""
    return [index for index, character in enumerate(text) if character.isascii() and character.isalnum()]
