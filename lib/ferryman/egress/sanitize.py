"""Sanitizing of responses (defence against prompt injection): the model reads them only as framed external data."""

from __future__ import annotations

import codecs
import io
import json
import re

from ferryman.domain.calls.call import TRUNCATED
from ferryman.domain.http.request import InboundResponse
from ferryman.egress import frame
from ferryman.egress.frame import remove_invisible
from ferryman.egress.leaks import SecretScanner, StepBudget, redact_json, redact_text

CHARACTERS_MAX = 50_000  # S0-129
CHARACTERS_READ = 65_536
"""Characters of a text that are scanned: those that the model reads, and enough after them to find a secret at the cut."""

PIECE_BYTES = 65_536
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([A-Za-z0-9._-]{1,40})\"?", re.IGNORECASE | re.ASCII)
# Any other codec of Python may turn harmless bytes into a frame, or raise other errors.
_CHARSETS = {
    **dict.fromkeys(("utf-8", "utf8", "us-ascii", "ascii"), "utf-8"),
    **dict.fromkeys(("iso-8859-1", "latin-1", "latin1", "windows-1252", "cp1252"), "windows-1252"),
}
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def render_response(inbound: InboundResponse, scanner: SecretScanner, *, nonce: str) -> str:
    """Return a response for the model: decoded, stripped, redacted, cut to 50,000 characters and framed, in this order.

    Redacting before the cut, and after the stripping, since either could otherwise put a secret together or hide half of one.
    """
    return _redact_and_frame(decode_text(inbound), scanner, nonce=nonce, cut=inbound.cut)


def frame_text(text: str, scanner: SecretScanner, *, nonce: str) -> str:
    """Return a text of the system that quotes others, stripped, redacted, cut and framed."""
    return _redact_and_frame(remove_invisible(text)[:CHARACTERS_READ], scanner, nonce=nonce, cut=False)


def _redact_and_frame(read: str, scanner: SecretScanner, *, nonce: str, cut: bool) -> str:
    budget = StepBudget(len(read), passes=2)
    text = redact_text(read, scanner, budget)
    if text != read and _is_json(read) and not _is_json(text):
        # a quotation mark was cut out too, so a secret that is split over the rest would no longer be found
        text = redact_text(redact_json_text(read, scanner, budget), scanner, budget)
    text = redact_json_text(text, scanner, budget)
    cut = cut or len(read) == CHARACTERS_READ or len(text) > CHARACTERS_MAX
    body = frame.neutralize(text[:CHARACTERS_MAX])
    if len(body) > CHARACTERS_MAX:
        body, cut = frame.neutralize(body[:CHARACTERS_MAX])[:CHARACTERS_MAX], True
    return frame.wrap(body + TRUNCATED if cut else body, nonce=nonce, truncated=cut)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def redact_json_text(text: str, scanner: SecretScanner, budget: StepBudget | None = None) -> str:
    """Return `text`; if it is JSON whose values hold a credential only together, without that credential.

    JSON that is too long to be scanned whole was cut, and is no longer JSON.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        value = json.loads(text)
        clean = redact_json(value, scanner, budget)
    except (ValueError, RecursionError):
        return text
    return text if clean is value else json.dumps(clean, ensure_ascii=False)


def decode_text(inbound: InboundResponse) -> str:
    """Return the body as text without invisible characters, at most `CHARACTERS_READ` of it.

    Decoded by its byte order mark or its declared charset; what does not decode is replaced. Piece by piece, since one
    character may make a whole text four times as large as its bytes.
    """
    name, mark = _detect_encoding(inbound)
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(name)("replace"), translate=True)
    pieces, characters, size = [], 0, len(inbound.body)
    for start in range(mark, size, PIECE_BYTES):
        piece = decoder.decode(inbound.body[start : start + PIECE_BYTES], final=start + PIECE_BYTES >= size)
        pieces.append(remove_invisible(piece))
        characters += len(pieces[-1])
        if characters >= CHARACTERS_READ:
            break
    return "".join(pieces)[:CHARACTERS_READ]


def _detect_encoding(inbound: InboundResponse) -> tuple[str, int]:
    """Return the codec, and the length of the byte order mark in bytes."""
    for mark, name in _MARKS:
        if inbound.body.startswith(mark):
            return name, len(mark)
    declared = next((value for name, value in inbound.headers if name.lower() == "content-type"), "")
    match = _CHARSET.search(declared)
    return _CHARSETS.get(match[1].lower() if match else "utf-8", "utf-8"), 0
