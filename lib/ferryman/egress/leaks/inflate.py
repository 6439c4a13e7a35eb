"""Compressed streams among bytes, decompressed up to a limit (protects against decompression bombs)."""

from __future__ import annotations

import bz2
import codecs
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from ahocorasick_rs import BytesAhoCorasick

INFLATED_MAX = 131_072  # bytes of one stream that are decoded further
SCANNED_MAX = 2_097_152  # bytes of one stream that are scanned without further decoding
TRIES_MAX = 1_024  # headers of streams in one text that are tried; only a hostile text has more
RAW_HEADERS = (3, 5)  # the low three bits of a stream without a header that is one last block, in fixed or in its own codes
BYTES_LEAST = 8
_HEADERS = (b"\x1f\x8b\x08", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_FILE_PREFIXES = (b"IDAT", b"ream\n", b"am\r\n")
"""The bytes before the streams of pictures and documents, which may have any length."""

DICTIONARY_BYTES_MAX = 12_582_912  # Memory for one xz stream: enough for the default of `xz` (8 MiB and its management)
_OTHERS_MAX = 64  # headers of bz2 and xz in one text that are tried: they are long, and do not occur by chance
PIECE = 64  # bytes of a broken stream that are read at once
_FAULTS = (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError)
_Stream = bz2.BZ2Decompressor | lzma.LZMADecompressor
_OTHERS: tuple[tuple[bytes, re.Pattern[bytes], Callable[[], _Stream]], ...] = (
    (b"BZh", re.compile(b"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2.BZ2Decompressor),
    (b"\xfd7zXZ\0", re.compile(b"\xfd7zXZ\0"), partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, DICTIONARY_BYTES_MAX)),
    (
        b"]\0\0",
        re.compile(b"]\0\0[\x01-\x80]\0[\0-\xff]{8}"),
        partial(lzma.LZMADecompressor, lzma.FORMAT_ALONE, DICTIONARY_BYTES_MAX),
    ),
)
"""The headers of bz2, xz and the older lzma: the bytes to search for, and the pattern that they must match."""


_HEADS = [*_HEADERS, *(head for head, _, _ in _OTHERS)]
MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FINDER = BytesAhoCorasick([*_HEADS, *MARKS])  # no two heads of streams overlap, but marks do: FF FE FF has both
FIRST_BYTES = frozenset(head[0] for head in _HEADS)


class InflationLimitError(Exception):
    """The bytes hold more compressed streams, or longer ones, than are scanned."""


class Heads(NamedTuple):
    """The first bytes of streams, each with its number and place, as in noise by chance, and the places of byte order marks."""

    streams: list[tuple[int, int]]
    marks: list[int]


def find_heads(content: bytes) -> Heads:
    """Return what may be the beginning of a stream, or of text in UTF-16, in `content`, in order."""
    heads = Heads([], [])
    for index, start, _ in _FINDER.find_matches_as_indexes(content, overlapping=True):
        if index < len(_HEADS):
            heads.streams.append((index, start))
        else:
            heads.marks.append(start)
    return heads


def open_streams(content: bytes) -> Iterator[bytes]:
    """Yield the decompressed streams in `content`: of each up to `INFLATED_MAX` bytes, then the rest.

    Raise `InflationLimitError`.
    """
    view = memoryview(content)
    tries = others = 0
    for index, start in find_heads(content).streams:
        if index < len(_HEADERS):
            tries += 1
            if tries > TRIES_MAX + len(content) // 64:
                raise InflationLimitError
            if (content[start] * 256 + content[start + 1]) % 31 == 0 or content[start] == 0x1F:
                is_file = content[max(0, start - 5) : start].endswith(_FILE_PREFIXES)
                yield from _inflate(view[start:], 32 + zlib.MAX_WBITS, endless=is_file)
        else:
            _, whole, create = _OTHERS[index - len(_HEADERS)]
            if whole.match(content, start):
                others += 1
                if others > _OTHERS_MAX:
                    raise InflationLimitError
                yield from _decompress(create, view[start:])


def open_raw_stream(content: bytes) -> Iterator[bytes]:
    """Yield `content` decompressed if it is one whole stream without header or checksum, in a single block.

    Raise `InflationLimitError`.
    """
    if content[0] & 7 in RAW_HEADERS:
        yield from _inflate(memoryview(content), -zlib.MAX_WBITS, whole=True)


def _decompress(create: Callable[[], _Stream], content: memoryview) -> Iterator[bytes]:
    stream = create()
    try:
        opened = stream.decompress(content, INFLATED_MAX)
        rest = stream.decompress(b"", SCANNED_MAX) if len(opened) == INFLATED_MAX and not stream.eof else b""
    except _FAULTS as error:
        if isinstance(error, lzma.LZMAError) and "memory" in str(error).lower():
            raise InflationLimitError from None
        opened, rest = _recover(create, content)
    yield from _join_rest(opened, rest)


def _inflate(content: memoryview, bits: int, *, whole: bool = False, endless: bool = False) -> Iterator[bytes]:
    create = partial(zlib.decompressobj, bits)
    stream = create()
    try:
        opened = stream.decompress(content, INFLATED_MAX)
        rest = stream.decompress(stream.unconsumed_tail, SCANNED_MAX) if len(opened) == INFLATED_MAX else b""
    except zlib.error:
        if whole:
            return
        opened, rest = _recover(create, content)
    if stream.eof or not whole:
        yield from _join_rest(opened, rest, endless=endless)


def _recover(create: Callable[[], Any], content: memoryview) -> tuple[bytes, bytes]:
    """Return what a broken stream decompresses to before its fault, as much as a reader gets: up to the limit, and the rest.

    The stream is read again in pieces, and the piece with the fault byte by byte.
    """
    most, good, opened = INFLATED_MAX + SCANNED_MAX, 0, b""
    for size in (PIECE, 1):
        stream = create()
        pieces = [stream.decompress(content[:good], most)]
        room = most - len(pieces[0])
        with suppress(*_FAULTS):
            while room and good < len(content):
                pieces.append(stream.decompress(content[good : good + size], room))
                room -= len(pieces[-1])
                good += size
        opened = b"".join(pieces)
    return opened[:INFLATED_MAX], opened[INFLATED_MAX:]


def _join_rest(opened: bytes, rest: bytes, *, endless: bool = False) -> Iterator[bytes]:
    if len(opened) < BYTES_LEAST:
        return  # noise often decompresses to a few bytes
    yield opened
    if rest:
        yield opened[-1_024:] + rest
    if len(rest) == SCANNED_MAX and not endless:
        raise InflationLimitError
