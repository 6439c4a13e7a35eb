"""Encodings of bytes in a text: what each is decoded to, from which length on, and what of it is readable."""

from __future__ import annotations

import base64
import gzip
import zlib
from collections.abc import Iterable

import pytest

from ferryman.egress.leaks import bases, inflate
from ferryman.egress.leaks.encodings import decode
from ferryman.egress.leaks.text_spans import LEAST
from tests.egress.leaks import notations

TEXT = b"a secret of many words 123"


def encode(content: bytes) -> str:
    return base64.b64encode(content).decode()


def deflate(content: bytes) -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return stream.compress(content) + stream.flush()


def codes(content: Iterable[int], form: str = "{}", between: str = " ") -> str:
    return between.join(form.format(code) for code in content)


WRITTEN = {
    "base64": encode(TEXT),
    "base64 after one other digit": "A" + encode(TEXT),
    "base64 after two other digits": "AB" + encode(TEXT),
    "base64 after three other digits": "ABC" + encode(TEXT),
    "base64 for URLs": base64.urlsafe_b64encode(TEXT).decode().rstrip("="),
    "base64 in lines": "\n".join(encode(TEXT)),
    "hexadecimal": TEXT.hex(),
    "hexadecimal, from its second digit on": "f" + TEXT.hex(),
    "hexadecimal, an odd digit more": TEXT.hex() + "f",
    "hexadecimal with 0x": codes(TEXT, "0x{:02x}", ""),
    "hexadecimal with 0X": codes(TEXT, "0X{:02X}", ","),
    "hexadecimal with a backslash": codes(TEXT, "\\x{:02x}", ""),
    "hexadecimal with a backslash, capitals": codes(TEXT, "\\X{:02X}", ""),
    "decimal codes": codes(TEXT),
    "decimal codes of three digits": codes(TEXT, "{:03}", ","),
    "decimal codes, numbered": " ".join(f"{place % 10}={code}" for place, code in enumerate(TEXT)),
    "octal codes": codes(TEXT, "{:o}"),
    "octal codes of three digits": codes(TEXT, "{:03o}", ";"),
    "decimal codes without spaces": codes(TEXT, "{}", ""),
    "decimal codes of three digits without spaces": codes(TEXT, "{:03}", ""),
    "decimal codes of three digits after a digit": "7" + codes(TEXT, "{:03}", ""),
    "decimal codes of three digits after two digits": "77" + codes(TEXT, "{:03}", ""),
    "eight bits": codes(TEXT, "{:08b}", ""),
    "eight bits, apart": codes(TEXT, "{:08b}"),
    "seven bits": codes(TEXT, "{:07b}"),
    "base32": base64.b32encode(TEXT).decode(),
    "base58": bases.write_number(TEXT, bases.NUMBERS[1]),
    "base45": notations.base45(TEXT),
    "gzip in base64": encode(gzip.compress(TEXT)),
    "gzip in hexadecimal": gzip.compress(TEXT).hex(),
    "gzip in gzip in base64": encode(gzip.compress(gzip.compress(TEXT))),
    "gzip in decimal codes": codes(gzip.compress(TEXT), "{:03}"),
    "a stream without a header in base64": encode(deflate(TEXT)),
    "a stream without a header in hexadecimal": deflate(TEXT).hex(),
}


def shows(text: str, content: bytes = TEXT) -> bool:
    """Tell whether one of the decoded forms holds `content`; a form is text where it is decoded further."""
    forms = (view.encode("utf-8", "replace") if isinstance(view, str) else view for view in decode(text))
    return any(content in view for view in forms)


@pytest.mark.parametrize("notation", WRITTEN)
def test_text_is_read_in_each_notation(notation: str) -> None:
    assert shows(WRITTEN[notation])


READABLE = [name for name in WRITTEN if "stream" not in name and name != "gzip in decimal codes"]


@pytest.mark.parametrize("notation", READABLE)
def test_what_is_readable_is_decoded_further(notation: str) -> None:
    assert any(isinstance(view, str) and TEXT.decode() in view for view in decode(WRITTEN[notation]))


@pytest.mark.parametrize(
    ("text", "content", "expected"),
    [
        (encode(b"0123456789"), b"0123456789", True),  # fourteen digits
        (encode(b"012345678"), b"012345678", False),
        (b"0123456789".hex(), b"0123456789", True),
        (b"012345678".hex(), b"012345678", False),
    ],
)
def test_a_shorter_sequence_is_not_decoded(text: str, content: bytes, *, expected: bool) -> None:
    assert shows(text, content) is expected


@pytest.mark.parametrize(("length", "expected"), [(LEAST - 1, False), (LEAST, True)])
def test_bytes_are_scanned_from_their_least_length_on(length: int, *, expected: bool) -> None:
    content = bytes(range(200, 200 + length))
    assert any(isinstance(view, bytes) and content in view for view in decode(content.hex() + "ff")) is True
    assert any(isinstance(view, bytes) and content in view for view in decode(content.hex())) is expected


def test_readable_parts_are_joined_in_their_order() -> None:
    words = [b"the first readable part", b"the second readable part"]
    for content, alignment in (((words[0] + b"\xff" + words[1]), 0), ((words[0] + b"\xff\xfe" + words[1]), 1)):
        text = encode(b"\0" * alignment + content)
        assert any(isinstance(view, str) and words[0] + b"\n" in view.encode() for view in decode(text))
    # the first part is written in another alignment than the second
    apart = encode(words[0]).rstrip("=") + "A" + encode(words[1])
    joined = [view for view in decode(apart) if isinstance(view, str) and "second readable" in view]
    assert any(0 <= view.find("first readable") < view.find("second readable") for view in joined)
    written = words[0].hex() + "f" + words[1].hex()
    joined = [view for view in decode(written) if isinstance(view, str) and "second readable" in view]
    assert any(0 <= view.find("first readable") < view.find("second readable") for view in joined)


def test_numbers_that_are_no_codes_separate_and_single_digits_do_not() -> None:
    head, tail = TEXT[:13], TEXT[13:]
    assert shows(f"{codes(head)} 7 {codes(tail)}")
    assert not shows(f"{codes(head)} 777 {codes(tail)}")
    assert shows(f"{codes(head)} 777 {codes(tail)}", head)


def test_controls_among_codes_are_left_out() -> None:
    assert shows(codes(b"\x01".join(bytes((code,)) for code in TEXT), "{:03}"))


def test_codes_without_spaces_are_read_from_24_digits_on() -> None:
    assert shows(codes(b"passwords1", "{}", ""), b"passwords1")
    assert shows(codes(b"abcdefghij", "{:03}", ""), b"abcdefghij")
    assert shows("97" * 12, b"a" * 12)
    assert not shows("97" * 11 + "9", b"a" * 11)


@pytest.mark.parametrize(("more", "kind"), [(inflate.INFLATED_MAX - 1_024, str), (inflate.INFLATED_MAX - 1_023, bytes)])
def test_what_a_stream_has_beyond_what_is_decoded_is_only_scanned(more: int, kind: type) -> None:
    content = (TEXT * 10_200)[: inflate.INFLATED_MAX + more]
    rest = next(view for view in decode(encode(gzip.compress(content))) if len(view) == more + 1_024)
    assert type(rest) is kind


def test_readable_text_beyond_ascii_is_found_among_bytes() -> None:
    words = "ключ из многих букв и слов"
    assert shows(encode(b"\xff\xfe" + b"\x00" * 4 + words.encode() + b"\xff"), words.encode())
    assert shows(encode("key: secret".encode("utf-16-le")), b"key: secret")
    assert shows((b"\x01" + "a long secret".encode("utf-32-be")).hex(), b"a long secret")


def test_bytes_of_a_stream_that_are_no_text_do_not_hide_the_rest() -> None:
    assert shows(encode(gzip.compress(b"\xff\xfe" + TEXT)))
