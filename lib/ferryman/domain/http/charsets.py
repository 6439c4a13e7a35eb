"""Charsets in which a text may come: the allowed ones, their codecs, the marks that tell them, and how a body is decoded.

Those of the Encoding Standard that keep no state between characters. Any other codec of Python may turn harmless bytes into a
frame, or raise other errors.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator, Mapping

CHARSET = re.compile(r";\s*charset\s*=\s*\"?([A-Za-z0-9._:-]{1,40})\"?", re.IGNORECASE | re.ASCII)
"""The charset in the value of a `content-type` header."""

CODECS: Mapping[str, str] = {
    **dict.fromkeys(("utf-8", "utf8", "us-ascii", "ascii"), "utf-8"),
    **dict.fromkeys(("iso-8859-1", "latin-1", "latin1", "windows-1252", "cp1252"), "windows-1252"),
    **dict.fromkeys(("utf-16", "utf-16le", "utf-16-le"), "utf-16-le"),
    **dict.fromkeys(("utf-16be", "utf-16-be"), "utf-16-be"),
    **{name: name for name in (f"iso-8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16))},
    **{name: name for name in (f"windows-{page}" for page in (1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258))},
    **dict.fromkeys(("iso-8859-9", "latin5"), "windows-1254"),
    **dict.fromkeys(("tis-620", "windows-874", "iso-8859-11"), "cp874"),
    **{name: name for name in ("koi8-r", "koi8-u", "euc-jp", "big5", "gb18030")},
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "windows-31j"), "cp932"),
    **dict.fromkeys(("gbk", "gb2312"), "gb18030"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987"), "cp949"),
}
"""Codecs of Python by the names of charsets, in lower case."""

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""The byte order marks, with the codec that each tells."""

TEXT_TYPE = re.compile(
    r"text/.+|.+\+(?:json|xml|yaml)|application/(?:(?:x-)?(?:json|ndjson|jsonl|jsonlines|json-seq|yaml|toml|javascript|ecmascript|sh"
    r"|www-form-urlencoded)|xml|xml-dtd|graphql|graphql-response|sql|problem|x-httpd-php|sparql-query)",
    re.ASCII,
)
"""Media types of texts."""

UNREADABLE = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]+")
"""What no text has: the bytes by which browsers tell binary data (MIME Sniffing Standard), and characters without a meaning."""

REPLACED = "\ufffd"
STRAY_MAX = 16
"""Unreadable and broken characters that a text may have, however short it is."""

UNREADABLE_SHARE_MAX = 0.04  # of the characters of a text; random bytes have a tenth and more in every charset
REPLACED_SHARE_MAX = 0.25  # of bytes that do not decode: less than in text of another alphabet than its charset

PIECE_BYTES = 65_536
"""Bytes that are decoded at once: one character may make a whole text four times as large as its bytes."""


def find_mark(content: bytes) -> tuple[str, int] | None:
    """Return the codec that a byte order mark tells, and the length of the mark in bytes; None where there is none."""
    return next(((name, len(mark)) for mark, name in MARKS if content.startswith(mark)), None)


def decode_pieces(content: bytes, codec: str, mark: int) -> Iterator[tuple[str, bool]]:
    """Yield the text of a body after its mark in pieces, and of each whether it is the last.

    What does not decode is replaced; line breaks are newlines.
    """
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(codec)("replace"), translate=True)
    for start in range(mark, len(content), PIECE_BYTES):
        is_last = start + PIECE_BYTES >= len(content)
        yield decoder.decode(content[start : start + PIECE_BYTES], final=is_last), is_last


def count_unreadable(text: str) -> int:
    """Return how many characters of a text no text has."""
    return len(text) - len(UNREADABLE.sub("", text))


def is_noise(characters: int, unreadable: int, replaced: int) -> bool:
    """Tell by the shares of unreadable characters and of bytes that did not decode that these characters are no text."""
    return unreadable > UNREADABLE_SHARE_MAX * characters or replaced > REPLACED_SHARE_MAX * characters
