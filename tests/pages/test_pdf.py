"""The text of a PDF; whatever a PDF is made of, reading it ends, with a sentence."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfWriter

from ferryman.pages import Kind, read_page
from ferryman.pages.pdf import BROKEN, ENCRYPTED, PAGES_MAX, read_pdf
from tests.pages.pdfs import BOMBS, write_pages

CHARACTERS = 10_000


def test_the_pages_of_a_pdf_are_read_in_their_order():
    assert read_pdf(write_pages(["Ferries cross", "in spring"]), CHARACTERS) == ("Ferries cross\n\nin spring", "")


@pytest.mark.parametrize("content_type", ["application/pdf", "application/octet-stream", ""])
def test_a_pdf_is_known_by_its_type_or_its_start(content_type):
    page = read_page(write_pages(["Ferries cross"]), content_type, "https://site.test/")
    assert (page.kind, page.text) == (Kind.PDF, "Ferries cross")


def encrypt(password: str) -> bytes:
    writer = PdfWriter(io.BytesIO(write_pages(["Ferries cross"])))
    writer.encrypt(password, "owner", algorithm="AES-256")
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


def test_a_pdf_with_a_password_is_told():
    assert read_pdf(encrypt("secret"), CHARACTERS) == ("", ENCRYPTED)


def test_a_pdf_that_opens_without_a_password_is_read():
    assert read_pdf(encrypt(""), CHARACTERS)[0] == "Ferries cross"


@pytest.mark.parametrize("content", [b"%PDF-1.7", b"%PDF-1.7\ntrailer", b"no PDF at all"])
def test_a_broken_pdf_is_told(content):
    assert read_pdf(content, CHARACTERS) == ("", BROKEN)


def test_a_pdf_of_images_is_told():
    text, note = read_pdf(write_pages([""]), CHARACTERS)
    assert (text, "no text" in note) == ("", True)


def test_the_pages_that_are_not_read_are_told():
    text, note = read_pdf(write_pages(["x"] * (PAGES_MAX + 1)), CHARACTERS)
    assert (text.count("x"), f"more than {PAGES_MAX} pages" in note) == (PAGES_MAX, True)


def test_a_long_text_is_cut_and_told():
    text, note = read_pdf(write_pages(["word " * 20] * 20), 1_000)
    assert (len(text), "1,000 characters" in note) == (1_000, True)


@pytest.mark.parametrize("bomb", BOMBS)
def test_reading_a_bomb_ends(bomb):
    text, note = read_pdf(BOMBS[bomb](), CHARACTERS)
    assert len(text) <= CHARACTERS
    assert text or note


@given(st.data())
def test_a_damaged_pdf_is_read_or_told(data):
    content = bytearray(write_pages(["Ferries cross", "in spring"]))
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    text, note = read_pdf(bytes(content), CHARACTERS)
    assert text or note
