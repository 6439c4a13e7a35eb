"""Sanitize: what came back becomes text that the model can only read as external data."""

from __future__ import annotations

import codecs
import io
import json
import re

from ferryman.domain.call import TRUNCATED
from ferryman.domain.http import Inbound
from ferryman.egress import frame
from ferryman.egress.invisible import visible
from ferryman.egress.leaks import Scanner

CHARACTERS_MAX = 50_000  # S0-129
CHARACTERS_READ = 65_536
"""How much of a text is looked at: what is shown, and enough behind it to know a secret that stands on the cut."""

PIECE_BYTES = 65_536
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([A-Za-z0-9._-]{1,40})\"?", re.IGNORECASE | re.ASCII)
# Any other codec of Python's may turn innocent bytes into a frame, or raise what nobody expects.
_CHARSETS = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "us-ascii": "utf-8",
    "ascii": "utf-8",
    "iso-8859-1": "windows-1252",
    "latin-1": "windows-1252",
    "latin1": "windows-1252",
    "windows-1252": "windows-1252",
    "cp1252": "windows-1252",
}
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def shown(inbound: Inbound, scanner: Scanner, *, nonce: str) -> str:
    """What the model is shown of an answer: decoded, stripped, redacted, cut to 50,000 characters and framed, in this order.

    Redacting before the cut, and after the stripping, since either could otherwise put a secret together or hide half of one.
    """
    return _framed(readable(inbound), scanner, nonce=nonce, cut=inbound.cut)


def framed(text: str, scanner: Scanner, *, nonce: str) -> str:
    """A text of ours that has others' words in it, likewise."""
    return _framed(visible(text)[:CHARACTERS_READ], scanner, nonce=nonce, cut=False)


def _framed(read: str, scanner: Scanner, *, nonce: str, cut: bool) -> str:
    text = scanner.redact(read)
    if text != read and _is_json(read) and not _is_json(text):
        # a quotation mark went too, and what is spread over the rest could not be put together any more
        text = scanner.redact(whole(read, scanner))
    text = whole(text, scanner)
    cut = cut or len(read) == CHARACTERS_READ or len(text) > CHARACTERS_MAX
    body = frame.tamed(text[:CHARACTERS_MAX])
    if len(body) > CHARACTERS_MAX:
        body, cut = frame.tamed(body[:CHARACTERS_MAX])[:CHARACTERS_MAX], True
    return frame.wrapped(body + TRUNCATED if cut else body, nonce=nonce, truncated=cut)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def whole(text: str, scanner: Scanner) -> str:
    """`text`, or where it is JSON whose values hold a credential only together, the same without it.

    JSON that is too long to be looked at whole is no JSON any more where it was cut.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        value = json.loads(text)
        clean = scanner.redact_json(value)
    except (ValueError, RecursionError):
        return text
    return text if clean is value else json.dumps(clean, ensure_ascii=False)


def readable(inbound: Inbound) -> str:
    """The body as text without what is not seen, as much of it as is looked at.

    Decoded by its byte order mark or its declared charset; what does not decode is replaced. Piece by piece, since one
    character may make a whole text four times as large as its bytes.
    """
    name, mark = _encoding(inbound)
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(name)("replace"), translate=True)
    found, characters, size = [], 0, len(inbound.body)
    for start in range(mark, size, PIECE_BYTES):
        piece = decoder.decode(inbound.body[start : start + PIECE_BYTES], final=start + PIECE_BYTES >= size)
        found.append(visible(piece))
        characters += len(found[-1])
        if characters >= CHARACTERS_READ:
            break
    return "".join(found)[:CHARACTERS_READ]


def _encoding(inbound: Inbound) -> tuple[str, int]:
    """The codec, and the length of the byte order mark."""
    for mark, name in _MARKS:
        if inbound.body.startswith(mark):
            return name, len(mark)
    declared = next((value for name, value in inbound.headers if name.lower() == "content-type"), "")
    found = _CHARSET.search(declared)
    return _CHARSETS.get(found[1].lower() if found else "utf-8", "utf-8"), 0
