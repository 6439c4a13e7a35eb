"""Spans of readable ASCII in bytes that are mostly noise."""

from __future__ import annotations

from collections.abc import Iterator

from ferryman.egress.leaks.shapes import build_shape_table, find_spans

LEAST = 10
LEAST_OF_MANY = 14
"""The least bytes of a span, in short and in long content. Shorter ones occur everywhere by chance."""

MANY = 8_192

TEXT_SHAPE = build_shape_table(p=bytes((*b"\t\n\r", *range(0x20, 0x7F))))


def choose_least(length: int) -> int:
    """Return the least bytes of a span of text in content of `length` bytes."""
    return LEAST if length <= MANY else LEAST_OF_MANY


def find_text_spans(content: bytes, least: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the place and the bytes of each span of ASCII text in `content`, of `least` bytes or as its length has it."""
    shape = content.translate(TEXT_SHAPE)
    for start, end in find_spans(shape, least or choose_least(len(content))):
        yield start, content[start:end]
