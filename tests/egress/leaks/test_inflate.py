"""Compressed streams: which are opened, how far, and what is more than is scanned."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from contextlib import suppress

import pytest

from ferryman.egress.leaks import inflate
from ferryman.egress.leaks.inflate import (
    INFLATED_MAX,
    SCANNED_MAX,
    TRIES_MAX,
    InflationLimitError,
    open_raw_stream,
    open_streams,
)

TEXT = b"a secret, and words " * 4


def deflate(content: bytes) -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return stream.compress(content) + stream.flush()


PACKED = {
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "zlib, fastest": lambda content: zlib.compress(content, 1),
    "zlib, faster": lambda content: zlib.compress(content, 3),
    "zlib, best": lambda content: zlib.compress(content, 9),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lzma": lambda content: lzma.compress(content, lzma.FORMAT_ALONE),
}


@pytest.mark.parametrize("form", PACKED)
@pytest.mark.parametrize(("before", "after"), [(b"", b""), (b"noise", b"\0\0noise")])
def test_a_stream_is_opened_wherever_it_is(form: str, before: bytes, after: bytes) -> None:
    assert TEXT in list(open_streams(before + PACKED[form](TEXT) + after))


@pytest.mark.parametrize("form", ["gzip", "zlib", "bz2"])
def test_every_stream_is_opened(form: str) -> None:
    packed = PACKED[form](TEXT) + b"--" + PACKED[form](TEXT[::-1])
    assert [TEXT, TEXT[::-1]] == [opened for opened in open_streams(packed) if opened in (TEXT, TEXT[::-1])]


@pytest.mark.parametrize("form", ["gzip", "zlib"])
def test_a_stream_that_was_cut_is_opened_as_far_as_it_goes(form: str) -> None:
    noise = bytes(range(256)) * 8
    assert [noise.startswith(opened) for opened in open_streams(PACKED[form](noise)[:-20])] == [True]


@pytest.mark.parametrize("form", PACKED)
@pytest.mark.parametrize("place", [-1, -5])
def test_a_broken_stream_is_opened_up_to_its_fault(form: str, place: int) -> None:
    # a reader that decompresses as it receives has all of it before the checksum does not fit
    packed = bytearray(PACKED[form](TEXT))
    packed[place] ^= 0xFF
    opened = b"".join(open_streams(bytes(packed)))
    assert len(opened) >= len(TEXT) - 1
    assert TEXT.startswith(opened[: len(TEXT) - 1])


@pytest.mark.parametrize("form", ["gzip", "zlib", "zlib, fastest", "bz2", "xz", "lzma"])
def test_of_a_long_broken_stream_the_rest_is_scanned_too(form: str) -> None:
    content = bytes(INFLATED_MAX) + TEXT
    packed = bytearray(PACKED[form](content + bytes(SCANNED_MAX // 2)))
    packed[-4] ^= 0xFF
    first, rest = open_streams(bytes(packed))
    assert [first, TEXT in rest] == [content[:INFLATED_MAX], True]


def test_noise_after_a_header_opens_to_what_a_reader_gets() -> None:
    reader = zlib.decompressobj()
    noise = zlib.compress(TEXT, 1)[:40] + bytes(40)
    gathered = b""
    with suppress(zlib.error):
        for byte in noise:
            gathered += reader.decompress(bytes((byte,)))
    assert list(open_streams(noise)) == ([gathered] if len(gathered) >= inflate.BYTES_LEAST else [])


@pytest.mark.parametrize(
    "content", [b"", b"x", b"BZh", b"BZh91AY&SYnothing", b"\x1f\x8b\x08 no gzip", b"\x78\x9c", b"\xfd7zXZ\0"]
)
def test_what_is_no_stream_opens_to_nothing(content: bytes) -> None:
    assert list(open_streams(content)) == []


@pytest.mark.parametrize(("length", "opened"), [(7, []), (8, [b"~" * 8])])
def test_a_few_bytes_are_noise(length: int, opened: list[bytes]) -> None:
    assert list(open_streams(gzip.compress(b"~" * length))) == opened


@pytest.mark.parametrize("form", PACKED)
def test_of_a_long_stream_the_rest_is_scanned_with_the_end_of_what_is_decoded(form: str) -> None:
    content = (TEXT * 3_000)[: INFLATED_MAX + 500]
    assert list(open_streams(PACKED[form](content))) == [content[:INFLATED_MAX], content[INFLATED_MAX - 1_024 :]]
    assert list(open_streams(PACKED[form](content[:INFLATED_MAX]))) == [content[:INFLATED_MAX]]


@pytest.mark.parametrize("form", ["gzip", "zlib", "bz2", "xz"])
def test_a_stream_of_more_than_is_scanned_is_not_passed_over(form: str) -> None:
    for more in (0, 1):
        with pytest.raises(InflationLimitError):
            list(open_streams(PACKED[form](b"\0" * (INFLATED_MAX + SCANNED_MAX + more))))
    assert len(list(open_streams(PACKED[form](b"\0" * (INFLATED_MAX + SCANNED_MAX - 1))))) == 2


@pytest.mark.parametrize("form", ["gzip", "bz2"])
def test_a_broken_stream_of_more_than_is_scanned_is_not_passed_over(form: str) -> None:
    packed = bytearray(PACKED[form](b"\0" * (INFLATED_MAX + SCANNED_MAX + 1)) + bytes(8))
    packed[-10] ^= 0xFF
    with pytest.raises(InflationLimitError):
        list(open_streams(bytes(packed)))


@pytest.mark.parametrize("before", [b"IDAT", b"stream\n", b"stream\r\n"])
def test_a_stream_of_a_picture_or_a_document_may_have_any_length(before: bytes) -> None:
    assert len(list(open_streams(before + zlib.compress(b"\0" * (INFLATED_MAX + SCANNED_MAX))))) == 2


def test_a_dictionary_that_takes_too_much_memory_is_not_passed_over() -> None:
    with pytest.raises(InflationLimitError):
        list(open_streams(lzma.compress(TEXT, preset=9)))


@pytest.mark.parametrize(("head", "most"), [(b"\x1f\x8b\x08", TRIES_MAX), (b"BZh91AY&SY", 64)])
def test_more_headers_than_are_tried_are_not_passed_over(head: bytes, most: int) -> None:
    assert list(open_streams(head * most)) == []
    with pytest.raises(InflationLimitError):
        list(open_streams(head * (most * 2)))


def test_a_stream_without_a_header_is_opened_where_it_is_whole_and_one_block() -> None:
    packed = deflate(TEXT)
    assert packed[0] & 7 in inflate.RAW_HEADERS
    assert list(open_raw_stream(packed)) == [TEXT]
    assert list(open_raw_stream(packed[:-1])) == []
    assert list(open_raw_stream(b"\0" + packed)) == []
    assert list(open_raw_stream(zlib.compress(TEXT))) == []
