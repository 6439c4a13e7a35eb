"""Shapes: a sign for the class of each byte, so that sequences of one class are found at the speed of a plain search."""

from __future__ import annotations

from collections.abc import Iterator


def build_shape_table(**signs: bytes) -> bytes:
    """Return a table for `bytes.translate` that replaces each byte by the sign of its class, others by a dot."""
    table = bytearray(b"." * 256)
    for sign, members in signs.items():
        for code in members:
            table[code] = ord(sign)
    return bytes(table)


def find_spans(shape: bytes, least: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sequence of at least `least` signs p in `shape`, in order; any other sign is a dot."""
    mark = b"p" * least
    start = shape.find(mark)
    while start >= 0:
        end = shape.find(b".", start + least)
        if end < 0:
            end = len(shape)
        yield start, end
        start = shape.find(mark, end)
