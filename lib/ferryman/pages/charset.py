"""The text of a body: decoded piece by piece, by its byte order mark, its header, what the page says of itself, or as UTF-8."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ferryman.domain.http.charsets import (
    CHARSET,
    CODECS,
    REPLACED,
    STRAY_MAX,
    count_unreadable,
    decode_pieces,
    find_mark,
    is_noise,
)

SNIFFED_BYTES = 4_096  # where a page says its charset
_META = re.compile(rb"<meta\b[^>]{0,512}?\bcharset\s{0,8}=\s{0,8}[\"']?\s{0,8}([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_XML = re.compile(rb"\s{0,8}<\?xml\b[^>]{0,256}?\bencoding\s{0,8}=\s{0,8}[\"']([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)


def detect_codec(content: bytes, content_type: str, *, is_html: bool) -> tuple[str, int]:
    """Return the codec of a body, and the length of its byte order mark in bytes."""
    if (marked := find_mark(content)) is not None:
        return marked
    names = []
    if match := CHARSET.search(f";{content_type}"):
        names.append(match[1])
    head = content[:SNIFFED_BYTES]
    if is_html and (named := _META.search(head)):
        # a page that says so in ASCII is no UTF-16
        names.append(re.sub(r"(?i)^utf-?16.*", "utf-8", named[1].decode("ascii")))
    if named := _XML.match(head):
        names.append(named[1].decode("ascii"))
    return next((CODECS[name.lower()] for name in names if name.lower() in CODECS), "utf-8"), 0


def decode(content: bytes, codec: str, mark: int) -> Iterator[str]:
    """Return the text of a body in pieces. What does not decode is replaced; line breaks are newlines."""
    return (piece for piece, _ in decode_pieces(content, codec, mark))


def is_binary(piece: str) -> bool:
    """Tell by the first piece of a body whether it is no text at all."""
    unreadable, replaced = count_unreadable(piece), piece.count(REPLACED)
    if unreadable + replaced <= STRAY_MAX and (len(piece) > 4 * STRAY_MAX or not unreadable):
        return False
    return is_noise(len(piece), unreadable, replaced)
