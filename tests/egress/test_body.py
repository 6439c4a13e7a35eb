"""The body of a response: what is decoded, within which limit, and what is broken."""

from __future__ import annotations

import gzip
import zlib

import pytest

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.egress.send import STEP_BYTES, WIRE_BYTES_SPARE, ResponseBody


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


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip, gzip", "zstd"])
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
