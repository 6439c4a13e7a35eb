"""Text spans: the readable text among decoded bytes."""

from __future__ import annotations

import codecs
import re
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.egress.leaks.contents import Contents, extract_texts
from ferryman.egress.leaks.inflate import find_heads
from ferryman.egress.leaks.non_ascii import BEYOND_ASCII_LEAST, READ_AS_ASCII, find_non_ascii_texts
from ferryman.egress.leaks.shapes import build_shape_table, find_spans
from ferryman.egress.leaks.text_spans import LEAST, LEAST_OF_MANY, MANY, find_text_spans
from ferryman.framing.escapes import replace_lookalikes

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


WIDE = "".join(chr(ord(character) + 0xFEE0) for character in "widekeys")
ORDERS = [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")]
IDEOGRAPHS = b"\x41\x4e" * 22  # read as no ASCII in either order


@pytest.mark.parametrize(("mark", "name"), ORDERS)
@pytest.mark.parametrize("before", [b"\xff", b"\xfe", b"\xfe\xff", b"\xff\xfe", b"\xff\xfe\xff", b"\xfe\xff\xfe"])
def test_a_byte_order_mark_that_overlaps_another_is_one(before: bytes, mark: bytes, name: str) -> None:
    assert WIDE in find_non_ascii_text(before + mark + WIDE.encode(name))


@pytest.mark.parametrize(("mark", "name"), ORDERS)
def test_readable_text_after_one_mark_hides_none_after_another(mark: bytes, name: str) -> None:
    readable = mark + "harmless".encode(name)
    for between in (b"", b"Z"):
        assert WIDE in find_non_ascii_text(readable + between + mark + WIDE.encode(name))


@pytest.mark.parametrize(("mark", "name"), ORDERS)
@pytest.mark.parametrize("decoys", [1, 16, 17, 1_000])
def test_no_number_of_marks_before_hides_a_text(decoys: int, mark: bytes, name: str) -> None:
    assert WIDE in find_non_ascii_text((mark + IDEOGRAPHS) * decoys + mark + WIDE.encode(name))


def test_every_character_that_is_read_as_ascii_is_looked_at_and_alone_is_too_short() -> None:
    read = {code: replace_lookalikes(chr(code)) for code in range(0x21, 0x10000)}
    visible = {code: re.findall("[!-~]", text) for code, text in read.items()}
    looked_for = [code for code in read if visible[code] or not read[code]]
    assert [hex(code) for code in looked_for if not READ_AS_ASCII.fullmatch(chr(code) * 2)] == []
    assert max(map(len, visible.values())) < 8


MARKED = st.lists(
    st.sampled_from([*codecs.BOM_UTF16_LE, 0x00, 0x41, 0xD8, 0xDC]).map(lambda byte: bytes((byte,)))
    | st.sampled_from([codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"\x00\xd8", b"\xd8\x00", IDEOGRAPHS])
    | st.sampled_from(["harmless".encode(name) for _, name in ORDERS]),
    max_size=12,
).map(b"".join)


@settings(derandomize=True, max_examples=500, deadline=None)
@given(before=MARKED, after=MARKED, order=st.sampled_from(ORDERS))
def test_text_after_a_mark_is_found_whatever_is_before_and_after(before: bytes, after: bytes, order: tuple[bytes, str]) -> None:
    mark, name = order
    assert WIDE in find_non_ascii_text(before + mark + WIDE.encode(name) + after)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(parts=st.lists(st.lists(st.sampled_from(b"\xfe\xffa"), min_size=LEAST, max_size=20).map(bytes), min_size=1, max_size=4))
def test_no_mark_arises_or_is_lost_where_contents_meet(parts: list[bytes]) -> None:
    joined = next(iter(extract_texts([Contents(parts)])))
    assert isinstance(joined, bytes)
    starts = accumulate((len(part) + 1 for part in parts[:-1]), initial=0)
    marks = [start + place for start, part in zip(starts, parts, strict=True) for place in find_heads(part).marks]
    assert find_heads(joined).marks == marks


UTF8 = re.compile(rb"(?:[\t\n\r\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}){8,}+")
BYTES = st.lists(
    st.binary(max_size=40)
    | st.text(max_size=30).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | st.text("абв—ïa \n", min_size=4, max_size=30).map(str.encode)
    | st.sampled_from([b"\0", b"\xff", b"\xd0", b"\xb0", b"a" * 24, bytes(300), bytes(range(128, 192)) * 4]),
    max_size=12,
).map(b"".join)


def read_all_utf8(content: bytes) -> list[str]:
    """Return the same text by a plain search: sequences of bytes that no invalid pair divides, from the least length on."""
    sequences = re.findall(rb"(?:[\t\n\r -~]|[\xc2-\xf4](?![\t\n\r -~])|(?<![\t\n\r -~])[\x80-\xbf])+", content)
    long = [sequence for sequence in sequences if len(sequence) >= BEYOND_ASCII_LEAST]
    return [text.decode("utf-8", "ignore") for sequence in long for text in UTF8.findall(sequence) if not text.isascii()]


@settings(derandomize=True, max_examples=1_000, deadline=None)
@given(before=BYTES, content=BYTES)
def test_text_beyond_ascii_is_found_wherever_and_however_much_of_it_there_is(before: bytes, content: bytes) -> None:
    joined = before + b"\xff" + content
    starts = [0, len(before) + 1, len(joined) + 1]
    texts = "\n".join(find_non_ascii_texts(joined, starts, []))
    assert all(text in texts for part in (before, content) for text in read_all_utf8(part))
