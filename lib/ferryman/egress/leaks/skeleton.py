"""Skeleton: a text reduced to its lower-case letters and digits, which makes case, wrapping, padding and separators equal."""

from __future__ import annotations

_ALPHANUMERIC = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LOWER = bytes(range(256)).lower()
_OTHER = bytes(set(range(256)) - set(_ALPHANUMERIC))


def skeleton(text: str | bytes) -> bytes:
    """What remains of `text` for comparison."""
    if isinstance(text, str):
        text = text.encode("ascii", "ignore")
    return text.translate(_LOWER, _OTHER)


def positions(text: str) -> list[int]:
    """Where in `text` each byte of its skeleton stands."""
    return [index for index, character in enumerate(text) if character.isascii() and character.isalnum()]
