"""Text spans: the readable text among decoded bytes."""

from __future__ import annotations

import codecs

import pytest

from ferryman.egress.leaks.contents import (
    BEYOND_ASCII_LEAST,
    LEAST,
    LEAST_OF_MANY,
    MANY,
    find_non_ascii_texts,
    find_text_spans,
)
from ferryman.egress.leaks.inflate import find_heads
from ferryman.egress.leaks.shapes import build_shape_table, find_spans

NOISE = b"\x00\xff\x01"


def find_non_ascii_text(content: bytes) -> str:
    return "".join(find_non_ascii_texts(content, [0, len(content) + 1], find_heads(content).marks))


def test_a_byte_has_the_sign_of_its_class_and_others_a_dot() -> None:
    assert b"ab1-".translate(build_shape_table(p=b"ab", q=b"1")) == b"ppq."


@pytest.mark.parametrize(
    ("shape", "spans"),
    [(b"ppp", [(0, 3)]), (b".pp.ppp.pppp", [(4, 7), (8, 12)]), (b"pp", []), (b"", []), (b"ppp.ppp", [(0, 3), (4, 7)])],
)
def test_sequences_are_found_from_their_least_length_on(shape: bytes, spans: list[tuple[int, int]]) -> None:
    assert list(find_spans(shape, 3)) == spans


@pytest.mark.parametrize("length", [LEAST - 1, LEAST, LEAST_OF_MANY - 1, LEAST_OF_MANY])
@pytest.mark.parametrize("size", [100, MANY, MANY + 1])
def test_a_span_of_a_long_content_has_to_be_longer(length: int, size: int) -> None:
    content = (NOISE + b"~" * length).ljust(size, b"\x80")
    least = LEAST if size <= MANY else LEAST_OF_MANY
    assert list(find_text_spans(content)) == ([(3, b"~" * length)] if length >= least else [])


@pytest.mark.parametrize("space", [b"\t", b"\n", b"\r", b" "])
def test_white_space_ends_no_span_and_another_control_does(space: bytes) -> None:
    assert list(find_text_spans(b"words" + space + b"words")) == [(0, b"words" + space + b"words")]
    assert list(find_text_spans(b"words\x0bwords")) == []


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("ключ из многих букв".encode(), "ключ из многих букв"),
        (NOISE + "ключ €😀 из многих букв".encode() + NOISE, "ключ €😀 из многих букв"),
        ("ключ".encode(), ""),
        (b"only ASCII characters, of which there are many", ""),
        (b"\xc3" * 40, ""),
        ("key: secret".encode("utf-16-le"), "key: secret"),
        ("a long secret".encode("utf-32-be"), "a long secret"),
    ],
)
def test_text_beyond_ascii_is_found(content: bytes, text: str) -> None:
    assert find_non_ascii_text(content) == text


def test_text_beyond_ascii_has_to_be_of_some_length() -> None:
    fits = "б" * (BEYOND_ASCII_LEAST // 2)
    assert find_non_ascii_text(fits.encode()) == fits
    assert find_non_ascii_text(fits[:-1].encode()) == ""


@pytest.mark.parametrize(("mark", "name"), [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")])
def test_text_after_a_byte_order_mark_is_decoded(mark: bytes, name: str) -> None:
    wide = "".join(chr(ord(character) + 0xFEE0) for character in "widekeys")
    assert find_non_ascii_text(b"\x01" + mark + wide.encode(name)) == wide
    assert find_non_ascii_text(mark + "ключиключи".encode(name)) == ""
    assert find_non_ascii_text(mark + "widekey".encode(name)) == ""
