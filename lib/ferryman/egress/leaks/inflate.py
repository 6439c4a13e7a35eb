"""Inflate: compressed streams among bytes, opened as far as they are worth it."""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

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


DICTIONARY_BYTES_MAX = 12_582_912
"""Memory for one xz stream: enough for what `xz` writes unless it is told otherwise (8 MiB and what manages it)."""

_OTHERS_MAX = 64
"""Heads of bz2 and xz in one text that are tried: they are long, and come about by intention only."""


class InflationLimitError(Exception):
    """The bytes hold more compressed streams, or longer ones, than may be looked through."""


def open_streams(content: bytes) -> Iterator[bytes]:
    """Yield the streams in `content`, opened: each up to `INFLATED_MAX` bytes, then what follows. Raise
    `InflationLimitError`."""
    held = memoryview(content)
    tries = 0
    for head in _HEADS:
        start = content.find(head)
        while start >= 0:
            tries += 1
            if tries > TRIES_MAX + len(content) // 64:
                raise InflationLimitError
            if (content[start] * 256 + content[start + 1]) % 31 == 0 or head[0] == 0x1F:
                part = content[max(0, start - 5) : start].endswith(_PARTS_OF_FILES)
                yield from _opened(held[start:], 32 + zlib.MAX_WBITS, endless=part)
            start = content.find(head, start + 1)
    yield from _others(content, held)


def open_raw_stream(content: bytes) -> Iterator[bytes]:
    """Yield `content` as one whole stream without head or checksum, where it is a single block of one. Raise
    `InflationLimitError`."""
    if content[0] & 7 in RAW_HEADS:
        yield from _opened(memoryview(content), -zlib.MAX_WBITS, whole=True)


class _Stream(Protocol):
    """What bz2 and lzma have in common."""

    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: memoryview | bytes, max_length: int = -1) -> bytes: ...


def _xz() -> _Stream:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=DICTIONARY_BYTES_MAX)


def _lzma() -> _Stream:
    return lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=DICTIONARY_BYTES_MAX)


_OTHERS: tuple[tuple[bytes, re.Pattern[bytes], Callable[[], _Stream]], ...] = (
    (b"BZh", re.compile(b"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2.BZ2Decompressor),
    (b"\xfd7zXZ\0", re.compile(b"\xfd7zXZ\0"), _xz),
    (b"]\0\0", re.compile(b"]\0\0[\x01-\x80]\0[\0-\xff]{8}"), _lzma),
)
"""How streams of bz2, xz and the older lzma begin: what is looked for, and what it has to be."""


def _others(content: bytes, held: memoryview) -> Iterator[bytes]:
    tries = 0
    for head, whole, stream in _OTHERS:
        start = content.find(head)
        while start >= 0:
            if whole.match(content, start):
                tries += 1
                if tries > _OTHERS_MAX:
                    raise InflationLimitError
                yield from _decompressed(stream(), held[start:])
            start = content.find(head, start + len(head))


def _decompressed(stream: _Stream, content: memoryview) -> Iterator[bytes]:
    try:
        opened = stream.decompress(content, INFLATED_MAX)
        rest = stream.decompress(b"", SKIMMED_MAX) if len(opened) == INFLATED_MAX and not stream.needs_input else b""
    except lzma.LZMAError as error:
        if "memory" in str(error).lower():
            raise InflationLimitError from None
        return
    except (OSError, EOFError, ValueError):
        return
    if len(opened) < OPENED_LEAST:
        return
    yield opened
    if rest:
        yield opened[-1_024:] + rest
    if len(rest) == SKIMMED_MAX:
        raise InflationLimitError


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
        raise InflationLimitError
