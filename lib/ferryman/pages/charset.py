"""The text of a body: decoded piece by piece, by its byte order mark, its header, what the page says of itself, or as UTF-8."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator

from ferryman.domain.http.charsets import (
    CHARSET,
    CODECS,
    MARKS,
    REPLACED,
    REPLACED_SHARE_MAX,
    STRAY_MAX,
    UNREADABLE,
    UNREADABLE_SHARE_MAX,
)

PIECE_BYTES = 65_536
SNIFFED_BYTES = 4_096  # where a page says its charset
_META = re.compile(rb"<meta\b[^>]{0,512}?\bcharset\s{0,8}=\s{0,8}[\"']?\s{0,8}([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_XML = re.compile(rb"\s{0,8}<\?xml\b[^>]{0,256}?\bencoding\s{0,8}=\s{0,8}[\"']([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)


def detect_codec(content: bytes, content_type: str, *, is_html: bool) -> tuple[str, int]:
    """Return the codec of a body, and the length of its byte order mark in bytes."""
    for mark, name in MARKS:
        if content.startswith(mark):
            return name, len(mark)
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
    """Yield the text of a body in pieces. What does not decode is replaced; line breaks are newlines."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(codec)("replace"), translate=True)
    for start in range(mark, len(content), PIECE_BYTES):
        yield decoder.decode(content[start : start + PIECE_BYTES], final=start + PIECE_BYTES >= len(content))


def is_binary(piece: str) -> bool:
    """Tell by the first piece of a body whether it is no text at all."""
    unreadable = len(piece) - len(UNREADABLE.sub("", piece))
    replaced = piece.count(REPLACED)
    if unreadable + replaced <= STRAY_MAX and (len(piece) > 4 * STRAY_MAX or not unreadable):
        return False
    return unreadable > UNREADABLE_SHARE_MAX * len(piece) or replaced > REPLACED_SHARE_MAX * len(piece)
