"""Bytes written as a number, in base 45 or in base 32: what is written, what is read, and what is passed over."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.egress.leaks import bases
from tests.egress.leaks import notations

TEXT = b"a key: 0123456789 and more"
PRINTED = st.binary(min_size=1, max_size=60).filter(lambda content: content[0] > 0)


@pytest.mark.parametrize("digits", bases.NUMBERS)
@given(content=PRINTED)
def test_a_number_is_written_as_division_has_it(digits: str, content: bytes) -> None:
    assert bases.write_number(content, digits) == notations.number(content, digits)


@pytest.mark.parametrize("content", [b"", b"\0", b"\0\0"])
def test_zero_has_no_digits(content: bytes) -> None:
    assert bases.write_number(content, bases.NUMBERS[0]) == ""


@given(content=st.binary(max_size=30))
def test_base45_has_three_digits_for_every_two_whole_bytes(content: bytes) -> None:
    assert bases.write_base45(content) == notations.base45(content[: len(content) // 2 * 2])


@pytest.mark.parametrize("digits", bases.NUMBERS)
@pytest.mark.parametrize("around", ["{}", "see {}.", "({})\n{}", "key={}&x"])
def test_a_printable_number_is_read(digits: str, around: str) -> None:
    assert list(bases.decode_numbers(around.replace("{}", bases.write_number(TEXT, digits)))) == [TEXT]


def shorten(content: bytes, length: int) -> str:
    """Return `content` in base 58 of exactly `length` digits."""
    numbers = (bases.write_number(content + bytes((code,)) * times, bases.NUMBERS[1]) for times in range(400) for code in b"1a")
    return next(number for number in numbers if len(number) == length)


def test_the_shortest_and_the_longest_number_are_read() -> None:
    for length in (bases.NUMBER_MIN, bases.NUMBER_MAX - 1):
        assert len(list(bases.decode_numbers(shorten(b"key ", length)))) == 1
    assert list(bases.decode_numbers("1" * (bases.NUMBER_MIN - 1))) == []
    assert list(bases.decode_numbers(bases.write_number(b"well " * 100, bases.NUMBERS[1]))) == []


@pytest.mark.parametrize("word", ["{}/", "+{}", "/{}", "{}+"])
def test_a_part_of_base64_is_no_number(word: str) -> None:
    assert list(bases.decode_numbers(word.format(bases.write_number(TEXT, bases.NUMBERS[1])))) == []


@pytest.mark.parametrize("written", ["a" * 30, "A" * 30, "-" * 30, "0OIl" * 10])
def test_words_and_digits_of_no_base_are_not_read(written: str) -> None:
    assert [content for content in bases.decode_numbers(written) if content.isascii()] == []


def test_bytes_that_are_not_printable_are_not_read_from_a_number() -> None:
    for digits in bases.NUMBERS:
        assert list(bases.decode_numbers(bases.write_number(TEXT + b"\0", digits))) == []


def test_a_number_that_repeats_is_read_once() -> None:
    written = bases.write_number(TEXT, bases.NUMBERS[1])
    assert list(bases.decode_numbers(f"{written} {written}")) == [TEXT]


@pytest.mark.parametrize("before", ["", "A", "AB"])
def test_base45_is_read_in_each_of_its_alignments(before: str) -> None:
    content = b"a key of thirty characters 123"
    written = f"say '{before}{notations.base45(content)}'"
    assert [content in read for read in bases.decode_base45(written.encode())].count(True) == 1


def test_base45_is_read_as_the_standard_writes_it() -> None:
    # the example of RFC 9285, "Hello!!", without its odd last byte
    assert next(bases.decode_base45(b"%69 VD92E" * 3)) == b"Hello!" * 3


def test_groups_above_two_bytes_lose_their_highest_bit() -> None:
    assert next(bases.decode_base45(b"A" * 6 + b":" * 18))[-2:] == (91_124 & 0xFFFF).to_bytes(2, "big")


@pytest.mark.parametrize(
    ("run", "read"),
    [
        ("ABCDEF" + "1" * 18, 3),
        ("ABCDEF" + "1" * 17, 0),  # too short
        ("ABCDE" + "1" * 30, 0),  # too few letters
        ("A" * bases.RUN45_MAX, 3),
        ("A" * (bases.RUN45_MAX + 1), 0),
        ("ABCDE" + "1" * 30 + "\n" + "ABCDEF" + "1" * 30, 3),
    ],
)
def test_only_a_sequence_that_may_be_base45_is_read(run: str, read: int) -> None:
    assert len(list(bases.decode_base45(run.encode()))) == read


@pytest.mark.parametrize("place", range(len(bases.BASE32_KINDS)))
@given(content=st.binary(min_size=12, max_size=40))
def test_each_variant_of_base32_is_read(place: int, content: bytes) -> None:
    written = notations.base32(content, bases.BASE32_KINDS[place])
    assert bases.read_base32(written.encode(), place) == content
    if not written.isdigit():
        assert content in list(bases.decode_base32(f"see {written}.".encode()))
        assert content in list(bases.decode_base32(f"see {written.lower()}.".encode()))


def test_words_of_base32_are_joined_and_kept_apart() -> None:
    words = [base64.b32encode(content).decode() for content in (b"first key!", b"other key!")]
    assert b"first key!\xffother key!" in list(bases.decode_base32(" and ".join(words).encode()))


@pytest.mark.parametrize("word", ["2345672345672345", "JBSWY3DPEHPK3PX", "ABCDEFGHABCDEFG"])
def test_numbers_and_short_sequences_are_no_base32(word: str) -> None:
    assert list(bases.decode_base32(word.encode())) == []


def test_crockford_s_letters_that_resemble_digits_are_those() -> None:
    written = notations.base32(b"\0\0\x08B\x10\x84!", notations.CROCKFORD)
    content = notations.base32(b"0123456789", notations.CROCKFORD)
    assert set("01") & set(written + content)
    alike = (written + content[:8]).replace("0", "O").replace("1", "L")
    plain = (written + content[:8]).replace("O", "0").replace("L", "1")
    assert set(bases.decode_base32((alike + "2").encode())) & set(bases.decode_base32((plain + "2").encode()))


@pytest.mark.parametrize(("word", "place"), [("ABCDEFG1", 0), ("ABCDEFGW", 1), ("ABCDEFGU", 2), ("ABCDEFGL", 3)])
def test_a_word_with_another_character_is_nothing(word: str, place: int) -> None:
    assert bases.read_base32(word.encode(), place) == b""
