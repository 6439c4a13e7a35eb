"""Disguises: a key between other characters, backwards, or in bytes that are no text."""

from __future__ import annotations

import base64
import gzip
import string

import pytest

from ferryman.egress.leaks import SecretScanner
from tests.canaries.canary import create_key
from tests.egress.plants import credential, outbound

KEY = create_key("disguises", 32)
SCANNER = SecretScanner([credential(KEY)])
NAME = "NEWS_KEY"


def find(text: str, scanner: SecretScanner = SCANNER) -> str | None:
    finding = scanner.find(text)
    return finding and finding.name


@pytest.mark.parametrize("step", [2, 3])
def test_a_key_in_every_second_or_third_character_is_found(step: int) -> None:
    fillers = string.ascii_lowercase * 4
    text = "".join(letter + fillers[place * (step - 1) : (place + 1) * (step - 1)] for place, letter in enumerate(KEY))
    finding = SCANNER.find_in_request(outbound(body={"text": text}))
    assert finding is not None
    assert finding.name == NAME


def test_a_short_key_is_found_backwards() -> None:
    short = create_key("backwards", 10)
    assert find(f"see {short[::-1]}", SecretScanner([credential(short)])) == NAME


def test_a_key_beside_bytes_that_are_no_text_is_found_in_a_compressed_stream() -> None:
    packed = gzip.compress(b"\xff\xfe\x80 " + KEY.encode() + b" \xc3")
    assert find(base64.b64encode(packed).decode()) == NAME


WIDE = "".join(chr(ord(letter) + 0xFEE0) for letter in KEY)
TYPEWRITTEN = KEY.translate(
    {ord("0") + place: 0x1D7F6 + place for place in range(10)}
    | {ord(first) + place: code + place for first, code in (("A", 0x1D670), ("a", 0x1D68A)) for place in range(26)}
)
"""In mathematical letters of one width, which the other order of bytes does not show."""
MARKED = {
    "big-endian": b"\xfe\xff" + TYPEWRITTEN.encode("utf-16-be"),
    "big-endian, after a byte of a mark": b"xx\xff\xfe\xff" + TYPEWRITTEN.encode("utf-16-be"),
    "after text at an even place": b"\xff\xfe" + "harmless1".encode("utf-16-le") + b"Z\xff\xfe" + WIDE.encode("utf-16-le"),
    "after 17 marks": (b"\xff\xfe" + b"\x41\x4e" * 22) * 17 + b"\xff\xfe" + WIDE.encode("utf-16-le"),
}


@pytest.mark.parametrize("place", MARKED)
def test_a_key_in_look_alikes_is_found_after_each_byte_order_mark(place: str) -> None:
    assert find(MARKED[place].hex()) == NAME
    assert find(base64.b64encode(MARKED[place]).decode()) == NAME


@pytest.mark.parametrize("length", [7, 8])
def test_a_key_is_found_in_binary_digits(length: int) -> None:
    assert find(" ".join(f"{ord(letter):0{length}b}" for letter in KEY)) == NAME


def test_a_key_is_found_in_the_codes_of_its_characters_among_numbers_that_are_none() -> None:
    assert find("999 " + " ".join(str(ord(letter)) for letter in KEY) + " 1000") == NAME
