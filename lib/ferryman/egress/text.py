"""The body of a response as text: decoded by its byte order mark or charset, or described where it is not text at all."""

from __future__ import annotations

import codecs
import hashlib
import io
import re

from ferryman.domain.http.request import InboundResponse
from ferryman.egress.frame import remove_invisible
from ferryman.egress.leaks import SecretScanner
from ferryman.egress.leaks.redaction import format_redaction
from ferryman.egress.response_head import get_header, get_media_type

CHARACTERS_READ = 65_536
"""Characters of a text that are scanned: those that the model reads, and enough after them to find a secret at the cut."""

PIECE_BYTES = 65_536
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([A-Za-z0-9._:-]{1,40})\"?", re.IGNORECASE | re.ASCII)
# Those of the Encoding Standard that keep no state between characters. Any other codec of Python may turn harmless bytes into a
# frame, or raise other errors.
_CHARSETS = {
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
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_TEXT_TYPE = re.compile(
    r"text/.+|.+\+(?:json|xml|yaml)|application/(?:(?:x-)?(?:json|ndjson|jsonl|jsonlines|json-seq|yaml|toml|javascript|ecmascript|sh"
    r"|www-form-urlencoded)|xml|xml-dtd|graphql|graphql-response|sql|problem|x-httpd-php|sparql-query)",
    re.ASCII,
)
# What no text has: the bytes by which browsers tell binary data (MIME Sniffing Standard), and characters without a meaning.
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]+")
_REPLACED = "\ufffd"
STRAY_MAX = 16
"""Unreadable and broken characters that a text may have, however short it is."""

UNREADABLE_SHARE_MAX = 0.04  # of the characters of a text; random bytes have a tenth and more in every charset
REPLACED_SHARE_MAX = 0.25  # of bytes that do not decode: less than in text of another alphabet than its charset


def decode_text(inbound: InboundResponse) -> str | None:
    """Return the body as text without invisible characters, at most `CHARACTERS_READ` of it; None where it is binary.

    What does not decode is replaced. Piece by piece, since one character may make a whole text four times as large as its
    bytes.
    """
    name, mark = _detect_encoding(inbound)
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(name)("replace"), translate=True)
    pieces, characters, size = [], 0, len(inbound.body)
    decoded, unreadable, replaced = 0, 0, 0
    for start in range(mark, size, PIECE_BYTES):
        is_last = start + PIECE_BYTES >= size
        piece = decoder.decode(inbound.body[start : start + PIECE_BYTES], final=is_last)
        decoded += len(piece)
        unreadable += len(piece) - len(_UNREADABLE.sub("", piece))
        # half a character at the cut is no fault of the peer's
        replaced += piece.count(_REPLACED) - (inbound.cut and is_last and piece.endswith(_REPLACED))
        pieces.append(remove_invisible(piece))
        characters += len(pieces[-1])
        if characters >= CHARACTERS_READ:
            break
    return None if _is_binary(inbound, decoded, unreadable, replaced) else "".join(pieces)[:CHARACTERS_READ]


def _is_binary(inbound: InboundResponse, characters: int, unreadable: int, replaced: int) -> bool:
    """Tell a body that is not text by its bytes: of a textual type, it may have some faults; of any other, none."""
    if not _TEXT_TYPE.fullmatch(get_media_type(inbound) or ""):
        return unreadable + replaced > 0
    if unreadable + replaced <= STRAY_MAX:
        return False
    return unreadable > UNREADABLE_SHARE_MAX * characters or replaced > REPLACED_SHARE_MAX * characters


def describe_binary(inbound: InboundResponse, content_type: str | None, scanner: SecretScanner) -> tuple[str, str | None]:
    """Return what is shown in place of a binary body: nothing of its bytes. `content_type` is the checked one.

    The second value is the SHA-256 of the body in hex. That of a body with a credential in it is left out: anyone who can guess
    the rest of the body could test guesses of it.
    """
    size, kind = len(inbound.body), content_type or "no content type"
    spans = scanner.find_spans(inbound.body.decode("latin-1"))
    sha256 = None if spans else hashlib.sha256(inbound.body).hexdigest()
    digest = f"sha256 omitted: {format_redaction(spans[0].name)}" if spans else f"sha256 {sha256}"
    if inbound.cut:
        return f"binary, more than {size:,} bytes, {kind}, of the first {size:,} bytes: {digest}", sha256
    return f"binary, {size:,} bytes, {kind}, {digest}", sha256


def _detect_encoding(inbound: InboundResponse) -> tuple[str, int]:
    """Return the codec, and the length of the byte order mark in bytes."""
    for mark, name in _MARKS:
        if inbound.body.startswith(mark):
            return name, len(mark)
    match = _CHARSET.search(get_header(inbound, "content-type") or "")
    return _CHARSETS.get(match[1].lower() if match else "utf-8", "utf-8"), 0
