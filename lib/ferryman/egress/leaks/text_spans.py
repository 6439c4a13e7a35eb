"""Text spans: readable text among decoded bytes."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from ferryman.egress.leaks.escapes import replace_lookalikes

_END = re.compile(rb"[^p]")


def build_shape_table(**signs: bytes) -> bytes:
    """Return a table for `bytes.translate` that replaces each byte by the sign of its class, others by a dot."""
    table = bytearray(b"." * 256)
    for sign, members in signs.items():
        for code in members:
            table[code] = ord(sign)
    return bytes(table)


def find_spans(shape: bytes, least: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sequence of at least `least` signs p in `shape`, in order."""
    mark = b"p" * least
    start = shape.find(mark)
    while start >= 0:
        other = _END.search(shape, start + least)
        end = other.start() if other else len(shape)
        yield start, end
        start = shape.find(mark, end)


LEAST = 10
LEAST_OF_MANY = 14
"""The least bytes of a span, in short and in long content. Shorter ones occur everywhere by chance."""

MANY = 8_192

BEYOND_ASCII_LEAST = 20

# p: printable, l: leads a character of UTF-8, c: continues one, _: zero.
_SHAPE = build_shape_table(
    p=bytes((*b"\t\n\r", *range(0x20, 0x7F))), l=bytes(range(0xC2, 0xF5)), c=bytes(range(0x80, 0xC0)), _=b"\0"
)
_EITHER = bytes.maketrans(b"lc", b"pp")
_ASCII = re.compile(r"[!-~]{8}")
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_WIDE = (b"p_" * 6, b"p___" * 6)
_UTF8 = re.compile(rb"(?:[\t\n\r\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}){8,}+")


def find_text_spans(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the place and the bytes of each span of ASCII text in `content`."""
    shape = content.translate(_SHAPE)
    for start, end in find_spans(shape, LEAST if len(content) <= MANY else LEAST_OF_MANY):
        yield start, content[start:end]


def find_non_ascii_text(content: bytes) -> str:
    """Return the spans of `content` that are text in UTF-8 beyond ASCII, in UTF-16 or in UTF-32, a line each."""
    shape = content.translate(_SHAPE)
    # Sequences that are not UTF-8 end a span here, which removes nearly all noise.
    joined = shape.replace(b"lp", b".p").replace(b"pc", b"p.")
    texts = [
        text.decode("utf-8", "ignore")
        for start, end in find_spans(joined.translate(_EITHER), BEYOND_ASCII_LEAST)
        if b"lc" in shape[start:end]
        for text in _UTF8.findall(content, start, end)
        if not text.isascii()
    ]
    texts += _decode_marked(content)
    if any(sequence in shape for sequence in _WIDE):
        texts += [text.decode() for _, text in find_text_spans(content.replace(b"\0", b""))]
    return "\n".join(texts)


def _decode_marked(content: bytes) -> Iterator[str]:
    for mark, name in _MARKS:
        start = content.find(mark)
        if start >= 0 and _ASCII.search(replace_lookalikes(content[start + 2 : start + 42].decode(name, "ignore"))):
            yield content[start + 2 :].decode(name, "ignore")
