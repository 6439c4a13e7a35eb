"""Text and binary: what a body's type and bytes say it is, which charsets are decoded, and what is displayed of the rest."""

from __future__ import annotations

import hashlib
import random
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.http.charsets import STRAY_MAX
from ferryman.domain.http.request import InboundResponse
from ferryman.egress.leaks import SecretScanner
from ferryman.egress.sanitize import render_response
from ferryman.egress.text import decode_text
from tests.egress.plants import NOTATIONS, VALUES, credential

NOBODY = SecretScanner([])
NOISE = random.Random(3).randbytes(100_000)
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89"
ENGLISH = "The quick brown fox jumps over the lazy dog. " * 20


def answer(body: bytes, content_type: str | None = "text/plain", *, cut: bool = False) -> InboundResponse:
    headers = () if content_type is None else (("Content-Type", content_type),)
    return InboundResponse(status=200, headers=headers, body=body, size_bytes=len(body), cut=cut)


def read(body: bytes, content_type: str | None = "text/plain", *, cut: bool = False) -> str | None:
    return decode_text(answer(body, content_type, cut=cut))


def show(inbound: InboundResponse, scanner: SecretScanner = NOBODY) -> str:
    return render_response(inbound, scanner, nonce="n0").content.partition(">")[2].removesuffix("</tool_response>")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (PNG, "image/png"),
        (PNG, None),
        (PNG, "nonsense"),
        (NOISE, "application/octet-stream"),
        (NOISE, "image/png; charset=latin-1"),
        (NOISE, None),
        (b"\xff\xfe" + NOISE, "application/octet-stream"),
        (zlib.compress(ENGLISH.encode()), "application/zlib"),
        ("naïve".encode("latin-1"), "application/octet-stream"),
        (b"a\0b", "application/octet-stream"),
    ],
)
def test_what_is_no_text_by_its_type_and_its_bytes_is_binary(body: bytes, content_type: str | None) -> None:
    assert read(body, content_type) is None


@pytest.mark.parametrize(
    "charset", ["", "utf-8", "latin-1", "utf-16", "utf-16be", "gb18030", "shift_jis", "euc-kr", "koi8-r", "iso-8859-5"]
)
@pytest.mark.parametrize("size", [1_000, 100_000])
def test_random_bytes_that_are_declared_as_text_are_binary_all_the_same(charset: str, size: int) -> None:
    assert read(NOISE[:size], f"text/plain; charset={charset}") is None


@pytest.mark.parametrize(
    "content_type", ["application/octet-stream", "image/svg+xml", "image/png", "application/x-unknown", None, "?"]
)
@pytest.mark.parametrize("body", [b"", b"plain\ttext\r\n", "Grüße, 日本, 😀".encode(), b"\x1b[1mbold"])
def test_what_is_text_by_its_bytes_is_text_whatever_its_type(body: bytes, content_type: str | None) -> None:
    assert read(body, content_type) is not None


@pytest.mark.parametrize(
    ("charset", "codec", "text"),
    [
        ("ISO-8859-1", "latin-1", "Grüße, naïve"),
        ("latin1", "latin-1", "été"),
        ("windows-1252", "cp1252", "€ 5 – “quoted”"),
        ("windows-1251", "cp1251", "Привет, мир"),
        ("koi8-r", "koi8-r", "Привет, мир"),
        ("iso-8859-2", "iso-8859-2", "Žluťoučký kůň"),
        ("ISO-8859-9", "cp1254", "ığdır şehri"),
        ("Shift_JIS", "cp932", "こんにちは世界"),
        ("euc-jp", "euc-jp", "こんにちは世界"),
        ("gbk", "gbk", "你好，世界"),
        ("big5", "big5", "你好，世界"),
        ("euc-kr", "euc-kr", "안녕하세요"),
        ("utf-16", "utf-16-le", "Grüße"),
        ("UTF-16LE", "utf-16-le", "日本"),
        ("utf-16be", "utf-16-be", "日本"),
        ("us-ascii", "ascii", "plain"),
    ],
)
@pytest.mark.parametrize("content_type", ["text/html", "application/json", "application/octet-stream"])
def test_text_in_a_declared_charset_stays_text(content_type: str, charset: str, codec: str, text: str) -> None:
    assert read((text * 20).encode(codec), f'{content_type}; charset="{charset}"') == text * 20


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32"])
def test_text_with_a_byte_order_mark_stays_text(codec: str) -> None:
    for content_type in ("text/plain", "text/plain; charset=latin-1", "application/octet-stream", None):
        assert read("Grüße, 日本".encode(codec), content_type) == "Grüße, 日本"


def test_text_with_some_faults_stays_text_and_they_are_replaced() -> None:
    assert read(b"caf\xe9 \xff") == "caf\ufffd \ufffd"
    assert read(("é" + "plain " * 3).encode("latin-1") * 50) == ("\ufffd" + "plain " * 3) * 50
    assert read(b"\0" * STRAY_MAX + b"a") == "a"


def test_of_a_cut_text_half_a_character_at_its_end_is_no_fault() -> None:
    body = "aä".encode()[:-1]
    assert read(body, "application/octet-stream", cut=True) == "a\ufffd"
    assert read(body, "application/octet-stream") is None


def test_a_long_text_is_judged_by_what_is_read_of_it() -> None:
    assert read(ENGLISH.encode() * 100 + NOISE, "application/octet-stream") == (ENGLISH * 100)[:65_536]


def test_a_binary_body_is_described_and_nothing_of_it_is_shown() -> None:
    body = PNG + NOISE[: 8_090 - len(PNG)]
    assert show(answer(body, "image/png")) == f"binary, 8,090 bytes, image/png, sha256 {hashlib.sha256(body).hexdigest()}"
    assert show(answer(PNG, None)) == f"binary, {len(PNG)} bytes, no content type, sha256 {hashlib.sha256(PNG).hexdigest()}"
    assert show(answer(PNG, 'a"b')).startswith(f"binary, {len(PNG)} bytes, invalid, sha256 ")


def test_of_a_binary_body_that_was_cut_the_part_that_was_read_is_described() -> None:
    inbound = answer(NOISE, "video/mp4", cut=True)
    digest = hashlib.sha256(NOISE).hexdigest()
    assert show(inbound) == f"binary, more than 100,000 bytes, video/mp4, of the first 100,000 bytes: sha256 {digest}"
    assert 'truncated="true"' in render_response(inbound, NOBODY, nonce="n0").content


@pytest.mark.parametrize("place", [0, 50_000, 99_000])
@pytest.mark.parametrize("notation", ["plain", "base64", "hexadecimal"])
def test_no_hash_is_shown_of_a_binary_body_that_has_a_key(notation: str, place: int) -> None:
    value = VALUES["prefixed"]
    written = NOTATIONS[notation](value).encode()
    displayed = show(
        answer(NOISE[:place] + b"\0" + written + b"\0" + NOISE[:9], "image/png"), SecretScanner([credential(value)])
    )
    assert displayed == f"binary, {place + len(written) + 11:,} bytes, image/png, sha256 omitted: [redacted:NEWS_KEY]"


TYPES = st.sampled_from([None, "text/plain", "image/png", "text/html; charset=utf-16", "text/css; charset=big5"])


@given(st.binary(max_size=400), TYPES)
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_text_or_a_short_description(body: bytes, content_type: str | None) -> None:
    displayed = show(answer(body, content_type))
    if read(body, content_type) is None:
        kind = (content_type or "no content type").partition(";")[0]
        assert displayed == f"binary, {len(body):,} bytes, {kind}, sha256 {hashlib.sha256(body).hexdigest()}"
    else:
        assert not displayed.startswith("binary, ")
