"""Inflate: compressed streams among bytes, opened as far as they are worth it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

INFLATED_MAX = 131_072
"""Bytes of one stream that are decoded further."""

SKIMMED_MAX = 2_097_152
"""Bytes of one stream that are looked through at all."""

TRIES_MAX = 1_024
"""Heads of streams in one text that are tried; more of them come about by intention only."""

RAW_HEADS = (3, 5)
"""The low three bits of a stream without a head that is one last block, in fixed or in its own codes."""

OPENED_LEAST = 8
_HEADS = (b"\x1f\x8b\x08", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_PARTS_OF_FILES = (b"IDAT", b"ream\n", b"am\r\n")
"""What stands before the streams of pictures and documents, which may be of any length."""


class TooMuch(Exception):  # noqa: N818 - reads as the fact it states
    """The bytes hold more compressed streams, or longer ones, than may be looked through."""


def inflated(content: bytes) -> Iterator[bytes]:
    """The streams in `content`, opened: each up to `INFLATED_MAX` bytes, then what follows. Raises `TooMuch`."""
    held = memoryview(content)
    tries = 0
    for head in _HEADS:
        start = content.find(head)
        while start >= 0:
            tries += 1
            if tries > TRIES_MAX + len(content) // 64:
                raise TooMuch
            if (content[start] * 256 + content[start + 1]) % 31 == 0 or head[0] == 0x1F:
                part = content[max(0, start - 5) : start].endswith(_PARTS_OF_FILES)
                yield from _opened(held[start:], 32 + zlib.MAX_WBITS, endless=part)
            start = content.find(head, start + 1)


def raw(content: bytes) -> Iterator[bytes]:
    """`content` as one whole stream without head or checksum, where it is a single block of one. Raises `TooMuch`."""
    if content[0] & 7 in RAW_HEADS:
        yield from _opened(memoryview(content), -zlib.MAX_WBITS, whole=True)


def _opened(content: memoryview, bits: int, *, whole: bool = False, endless: bool = False) -> Iterator[bytes]:
    stream = zlib.decompressobj(bits)
    try:
        opened = stream.decompress(content, INFLATED_MAX)
        rest = stream.decompress(stream.unconsumed_tail, SKIMMED_MAX) if len(opened) == INFLATED_MAX else b""
    except zlib.error:
        return
    if len(opened) < OPENED_LEAST or (whole and not stream.eof):
        return  # noise often opens for a few bytes, and ends nowhere
    yield opened
    if rest:
        yield opened[-1_024:] + rest
    if len(rest) == SKIMMED_MAX and not endless:
        raise TooMuch
