"""The charset of a page: its byte order mark, then its header, then what it says of itself, else UTF-8."""

from __future__ import annotations

import codecs

import pytest

from ferryman.pages import read_page

PROSE = "Der Kaffee für die Gäste, schön heiß, über dem Fluß. " * 12
RUSSIAN = "Порт получает новую линию паромов, после долгих споров. " * 12


def read(text: str, encoded: bytes, content_type: str, *, head: bytes = b"") -> bool:
    content = b"<html><head>" + head + b"</head><body><p>" + encoded + b"</p></body></html>"
    return text.strip() in read_page(content, content_type, "https://site.test/").text


@pytest.mark.parametrize("name", ["windows-1251", "koi8-r", "utf-8", "ISO-8859-5"])
def test_the_header_tells(name):
    assert read(RUSSIAN, RUSSIAN.encode(name), f"text/html; charset={name}")


@pytest.mark.parametrize(
    "head",
    [
        b"<meta charset=windows-1252>",
        b"<META CHARSET='windows-1252'/>",
        b'<meta http-equiv="content-type" content="text/html; charset=windows-1252">',
    ],
)
def test_the_page_tells_where_the_header_does_not(head):
    assert read(PROSE, PROSE.encode("cp1252"), "text/html", head=head)


def test_the_header_counts_more_than_the_page():
    assert read(PROSE, PROSE.encode(), "text/html; charset=utf-8", head=b"<meta charset=koi8-r>")


def test_a_byte_order_mark_counts_more_than_both():
    content = codecs.BOM_UTF8 + f"<meta charset=koi8-r><p>{PROSE}".encode()
    assert PROSE.strip() in read_page(content, "text/html; charset=windows-1251", "https://site.test/").text


def test_utf_16_is_read_by_its_mark():
    assert PROSE.strip() in read_page(f"\ufeff<p>{PROSE}".encode("utf-16-le"), "text/html", "https://site.test/").text


@pytest.mark.parametrize("name", ["utf-7", "unicode_escape", "idna", "zlib", "no-such", "utf-8\0", "hex"])
def test_other_codecs_are_not_used(name):
    assert read(PROSE, PROSE.encode(), f"text/html; charset={name}")


def test_what_does_not_decode_is_replaced():
    text = read_page(b"<p>" + b"word \xff\xfe, " * 40, "text/html; charset=utf-8", "https://site.test/").text
    assert "word \ufffd\ufffd" in text


def test_the_charset_is_not_sought_in_the_whole_page():
    assert not read(PROSE, b"x" * 5_000 + b"<meta charset=windows-1252>" + PROSE.encode("cp1252"), "text/html")
