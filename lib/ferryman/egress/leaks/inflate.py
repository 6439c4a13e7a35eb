"""Inflate: compressed streams among bytes, opened as far as they are worth it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

INFLATED_MAX = 1_048_576
"""Bytes that are read of one stream."""

TRIES_MAX = 1_024
"""Heads of streams in one text that are tried; more of them come about by intention only."""

RAW_HEADS = (3, 5)
"""The low three bits of a stream without a head that is one last block, in fixed or in its own codes."""

OPENED_LEAST = 8
WHOLE_LEAST = 1_024
_HEADS = (b"\x1f\x8b\x08", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")


class TooMany(Exception):  # noqa: N818 - reads as the fact it states
    """The bytes hold more heads of compressed streams than may be tried."""


def inflated(content: bytes) -> Iterator[bytes]:
    """The streams in `content`, opened, each to at most `INFLATED_MAX` bytes. Raises `TooMany`."""
    seen = memoryview(content)
    tries = 0
    for head in _HEADS:
        start = content.find(head)
        while start >= 0:
            if (start == 0 or head[0] == 0x1F or (content[start] * 256 + content[start + 1]) % 31 == 0) and (
                opened := _opened(seen[start:], 32 + zlib.MAX_WBITS)
            ):
                yield opened
            tries += 1
            if tries > TRIES_MAX + len(content) // 64:
                raise TooMany
            start = content.find(head, start + 1)


def raw(content: bytes) -> bytes:
    """`content` as one whole stream without head or checksum; empty where it is none. Only a single block is taken for one."""
    if content[0] & 7 not in RAW_HEADS:
        return b""
    return _opened(memoryview(content), -zlib.MAX_WBITS, whole=True)


def _opened(content: memoryview, bits: int, *, whole: bool = False) -> bytes:
    stream = zlib.decompressobj(bits)
    try:
        opened = stream.decompress(content, INFLATED_MAX)
    except zlib.error:
        return b""
    # Noise often opens for a few bytes, and ends nowhere.
    return opened if len(opened) >= (OPENED_LEAST if not whole or stream.eof else WHOLE_LEAST) else b""
