"""The body of a response: what is decoded, within which limit, and what is broken."""

from __future__ import annotations

import gzip
import pickle
import random
import tracemalloc
import zlib
from contextlib import suppress

import brotli
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.egress.body import STEP_BYTES, WIRE_BYTES_SPARE, ResponseBody, finish_body


@pytest.mark.parametrize("coding", ["", "identity", " Identity "])
def test_a_plain_body_is_kept_up_to_its_limit(coding: str) -> None:
    body = ResponseBody(coding, 4)
    assert (body.feed(b"ab"), body.feed(b"cd"), body.is_cut, body.content) == (True, True, False, b"abcd")
    assert (body.feed(b"ef"), body.is_cut, body.content, body.received) == (False, True, b"abcd", 6)
    body.finish()


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", " GZIP "])
@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_gzip_is_decoded_in_chunks_of_any_size(coding: str, size: int) -> None:
    packed = gzip.compress(b"words " * 20)
    body = ResponseBody(coding, 120)
    opened = [body.feed(packed[start : start + size]) for start in range(0, len(packed), size)]
    assert (opened[-1], set(opened[:-1]) <= {True}) == (False, True)
    assert (body.content, body.is_cut, body.received) == (b"words " * 20, False, len(packed))
    body.finish()


def test_a_bomb_is_decoded_to_the_limit_in_steps() -> None:
    body = ResponseBody("gzip", 3 * STEP_BYTES)
    assert len(list(body.steps(gzip.compress(b"\0" * 10_000_000)))) == 3
    assert (body.is_cut, body.is_open, body.content) == (True, False, b"\0" * 3 * STEP_BYTES)
    body.finish()


def test_what_follows_a_stream_is_not_read() -> None:
    body = ResponseBody("gzip", 100)
    assert body.feed(gzip.compress(b"first") + gzip.compress(b"second")) is False
    assert body.content == b"first"


@pytest.mark.parametrize("coding", ["br, br", "deflate, gzip", "gzip, gzip", "zstd", "raw", "compress"])
def test_another_coding_is_refused(coding: str) -> None:
    with pytest.raises(CallRefusedError, match="the answer's content coding is not accepted"):
        ResponseBody(coding, 10)


def test_what_does_not_decode_is_refused() -> None:
    with pytest.raises(CallRefusedError, match="the answer's content coding is broken"):
        ResponseBody("gzip", 10).feed(b"no gzip at all")


def test_a_stream_that_ends_early_is_refused_and_an_empty_one_is_not() -> None:
    body = ResponseBody("gzip", 100)
    body.finish()
    body.feed(gzip.compress(b"words")[:-1])
    with pytest.raises(CallRefusedError, match="the answer's content coding is broken"):
        body.finish()


def test_gzip_that_is_longer_than_what_it_may_decode_to_is_refused() -> None:
    empty = b"\x00\x00\x00\xff\xff"  # a stored block of nothing
    head = gzip.compress(b"")[:10]
    fits = (WIRE_BYTES_SPARE + 10 - len(head)) // len(empty)
    body = ResponseBody("gzip", 10)
    assert body.feed(head + empty * fits) is True
    with pytest.raises(CallRefusedError, match="the answer's content coding is broken"):
        body.feed(empty * 2)


def test_zlib_under_the_name_of_gzip_is_refused() -> None:
    with pytest.raises(CallRefusedError, match="the answer's content coding is broken"):
        ResponseBody("gzip", 100).feed(zlib.compress(b"plain"))


WORDS = b"words " * 20
ENGLISH = b"".join(b'{"id": %d, "name": "words"},' % number for number in range(12_000))
DEFLATED = {
    "zlib": zlib.compress(WORDS),
    "zlib of a small window": zlib.compress(WORDS, wbits=9),
    "raw": zlib.compress(WORDS, wbits=-15),
    "raw, stored": zlib.compress(WORDS, 0, wbits=-15),
    "raw, of a small window": zlib.compress(WORDS, wbits=-9),
}


@pytest.mark.parametrize("form", DEFLATED)
@pytest.mark.parametrize("size", [1, 2, 7, 1_000])
def test_deflate_is_decoded_in_both_forms_and_chunks_of_any_size(form: str, size: int) -> None:
    packed, body = DEFLATED[form], ResponseBody(" Deflate ", 120)
    opened = [body.feed(packed[start : start + size]) for start in range(0, len(packed), size)]
    assert (opened[-1], body.needs_worker) == (False, False)
    assert (body.finish().content, body.is_cut, body.received) == (WORDS, False, len(packed))


def test_what_is_deflate_in_neither_form_is_refused() -> None:
    for packed in (b"\x78\x9cno deflate at all", b"no deflate at all", zlib.compress(WORDS)[:-4] + b"\0\0\0\0"):
        with pytest.raises(CallRefusedError, match="the answer's content coding is broken"):
            ResponseBody("deflate", 120).feed(packed)


@pytest.mark.parametrize("packed", [zlib.compress(WORDS)[:-1], zlib.compress(WORDS, wbits=-15)[:-1], b"x"])
def test_deflate_that_ends_early_is_refused_and_an_empty_one_is_not(packed: bytes) -> None:
    body = ResponseBody("deflate", 120)
    body.finish()
    body.feed(packed)
    with pytest.raises(CallRefusedError, match="the answer's content coding is broken"):
        body.finish()


@pytest.mark.parametrize("wbits", [15, -15])
def test_a_bomb_of_deflate_is_decoded_to_the_limit_in_steps(wbits: int) -> None:
    body = ResponseBody("deflate", 3 * STEP_BYTES)
    assert len(list(body.steps(zlib.compress(b"\0" * 10_000_000, wbits=wbits)))) == 3
    assert (body.finish().is_cut, body.is_open, body.content) == (True, False, b"\0" * 3 * STEP_BYTES)


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_brotli_is_collected_and_decoded_at_its_end_as_in_a_worker(size: int) -> None:
    packed, body = brotli.compress(WORDS), ResponseBody(" BR ", 120)
    assert all(body.feed(packed[start : start + size]) for start in range(0, len(packed), size))
    assert (body.needs_worker, body.content) == (True, b"")
    body = pickle.loads(pickle.dumps(finish_body(pickle.loads(pickle.dumps(body)))))
    assert (body.needs_worker, body.content, body.is_cut, body.received) == (False, WORDS, False, len(packed))


@pytest.mark.parametrize("size", [120, 121, 100_000])
def test_brotli_is_decoded_to_the_limit(size: int) -> None:
    body = ResponseBody("br", 120)
    body.feed(brotli.compress(b"a" * size))
    assert (body.finish().content, body.is_cut) == (b"a" * 120, size > 120)


def test_a_bomb_of_brotli_takes_no_more_memory_than_its_window() -> None:
    packer = brotli.Compressor(quality=5, lgwin=24)
    bomb = b"".join([*(packer.process(bytes(1_000_000)) for _ in range(100)), packer.finish()])
    body = ResponseBody("br", 2_000_000)
    body.feed(bomb)
    tracemalloc.start()
    try:
        body.finish()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (body.is_cut, len(body.content)) == (True, 2_000_000)
    assert peak < 5_000_000  # of output; the window is bounded by the format, to 16 MiB


NOISE = random.Random(1).randbytes(300_000)


@pytest.mark.parametrize("quality", [0, 1, 5, 9])
@pytest.mark.parametrize(
    "content", [NOISE, NOISE[:50_000] + b"a" * 200_000 + NOISE[:50_000], ENGLISH], ids=["noise", "mixed", "text"]
)
@pytest.mark.parametrize("limit", [1_000, 100_000, 299_999, 400_000])
def test_brotli_of_any_content_is_what_was_compressed_up_to_the_limit(limit: int, content: bytes, quality: int) -> None:
    packed, body = brotli.compress(content, quality=quality), ResponseBody("br", limit)
    for start in range(0, len(packed), 10_000):
        if not body.feed(packed[start : start + 10_000]):
            break
    assert body.finish().content == content[:limit]
    assert body.is_cut == (len(content) > limit)


def test_no_more_of_brotli_is_collected_than_the_limit_and_a_little() -> None:
    body = ResponseBody("br", 10)
    assert body.feed(b"z" * (WIRE_BYTES_SPARE + 10)) is True
    assert body.feed(b"z") is False
    assert body.received == WIRE_BYTES_SPARE + 11
    with pytest.raises(CallRefusedError, match="the answer's content coding is broken"):
        body.finish()


@pytest.mark.parametrize("packed", [b"no brotli at all", brotli.compress(WORDS)[:-1], brotli.compress(WORDS) + b"more"])
def test_broken_brotli_is_refused_and_an_empty_one_is_not(packed: bytes) -> None:
    assert ResponseBody("br", 120).finish().content == b""
    body = ResponseBody("br", 120)
    body.feed(packed)
    with pytest.raises(CallRefusedError, match="the answer's content coding is broken"):
        body.finish()


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "br"]), st.integers(1, 40))
@settings(deadline=None)
def test_any_bytes_in_any_coding_are_at_most_the_limit_or_refused(packed: bytes, coding: str, size: int) -> None:
    body = ResponseBody(coding, 64)
    with suppress(CallRefusedError):
        for start in range(0, len(packed), size):
            body.feed(packed[start : start + size])
        body.finish()
    assert len(body.content) <= 64
