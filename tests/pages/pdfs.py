"""PDFs that tests make: some with text, some that are made to take long."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping

CONTENT = "BT /F1 12 Tf 72 720 Td ({}) Tj ET"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def write_pdf(objects: Mapping[int, bytes], trailer: bytes = b"/Root 1 0 R") -> bytes:
    """Return a PDF of numbered objects, with its table of them."""
    content = bytearray(b"%PDF-1.7\n")
    offsets = {}
    for number, value in objects.items():
        offsets[number] = len(content)
        content += b"%d 0 obj\n%b\nendobj\n" % (number, value)
    start, size = len(content), max(objects) + 1
    content += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        content += b"%010d 00000 n \n" % offsets[number] if number in offsets else b"0000000000 65535 f \n"
    return bytes(content + b"trailer\n<< /Size %d %b >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start))


def write_stream(data: bytes, extra: bytes = b"") -> bytes:
    """Return a stream."""
    return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(data), extra, data)


def write_pages(texts: list[str], trailer: bytes = b"/Root 1 0 R", contents: bytes | None = None) -> bytes:
    """Return a PDF with a page for each text; `contents` is the stream of every page in the place of its text."""
    kids = b" ".join(b"%d 0 R" % (10 + 2 * number) for number in range(len(texts)))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, len(texts)),
        3: FONT,
    }
    for number, text in enumerate(texts):
        objects[10 + 2 * number] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
            % (11 + 2 * number)
        )
        objects[11 + 2 * number] = contents or write_stream(CONTENT.format(text).encode("latin-1"))
    return write_pdf(objects, trailer)


def _bomb(size: int, times: int) -> bytes:
    data = b"(" + b"a" * size + b") Tj "
    for _ in range(times):
        data = zlib.compress(data)
    return write_stream(data, b"/Filter [%b]" % (b"/FlateDecode " * times))


BOMBS: Mapping[str, Callable[[], bytes]] = {
    "a page that is its own parent": lambda: write_pdf(
        {1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"}
    ),
    "pages in a circle": lambda: write_pdf(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Kids [3 0 R] /Count 9 >>",
            3: b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Parent 2 0 R /Count 9 >>",
        }
    ),
    "an object that is itself": lambda: write_pdf({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"2 0 R"}),
    "arrays inside of arrays": lambda: write_pdf({1: b"<< /Type /Catalog /Pages " + b"[" * 50_000 + b"]" * 50_000 + b" >>"}),
    "dictionaries inside of dictionaries": lambda: write_pdf({1: b"<< /A " * 50_000 + b"1" + b" >>" * 50_000}),
    "a large stream": lambda: write_pages(["x"], contents=_bomb(60_000_000, 1)),
    "a stream inside of streams": lambda: write_pages(["x"], contents=_bomb(60_000_000, 3)),
    "many filters": lambda: write_pages(["x"], contents=write_stream(b"x", b"/Filter [" + b"/FlateDecode " * 5_000 + b"]")),
    "a length that is a lie": lambda: write_pages(["x"], contents=b"<< /Length 99999999999 >>\nstream\nx\nendstream"),
    "many operators": lambda: write_pages(["x"], contents=write_stream(b"q Q " * 500_000)),
    "many pages": lambda: write_pages(["x"] * 3_000),
    "forms that draw themselves": lambda: write_pdf(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
            4: b"<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << /XObject << /A 6 0 R >> >> >>",
            5: write_stream(b"/A Do " * 1_000),
            6: write_stream(b"/A Do /A Do", b"/Type /XObject /Subtype /Form /Resources << /XObject << /A 6 0 R >> >>"),
        }
    ),
    "no table of objects": lambda: b"%PDF-1.7\n" + b"1 0 obj << /A 1 >> endobj\n" * 20_000 + b"trailer << /Root 1 0 R >>",
    "previous tables in a circle": lambda: write_pages(["x"], trailer=b"/Root 1 0 R /Prev 0"),
    "zeros": lambda: b"%PDF-1.7\n" + b"\0" * 2_000_000,
    "brackets": lambda: b"%PDF-1.7\n" + b"<<" * 500_000,
}
