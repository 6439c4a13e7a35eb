"""The body of a response as text: decoded by its byte order mark or charset, or described where it is not text at all."""

from __future__ import annotations

import hashlib

from ferryman.domain.http.charsets import (
    CHARSET,
    CODECS,
    REPLACED,
    STRAY_MAX,
    TEXT_TYPE,
    count_unreadable,
    decode_pieces,
    find_mark,
    is_noise,
)
from ferryman.domain.http.request import InboundResponse
from ferryman.egress.leaks import SecretScanner
from ferryman.egress.leaks.redaction import format_redaction
from ferryman.egress.response_head import get_header, get_media_type
from ferryman.framing.frame import remove_invisible
from ferryman.framing.windows import CHARACTERS_READ


def decode_text(inbound: InboundResponse, most: int = CHARACTERS_READ) -> str | None:
    """Return the body as text without invisible characters, at most `most` of it; None where it is binary.

    What does not decode is replaced.
    """
    pieces, characters = list[str](), 0
    decoded, unreadable, replaced = 0, 0, 0
    for piece, is_last in decode_pieces(inbound.body, *_detect_encoding(inbound)):
        decoded += len(piece)
        unreadable += count_unreadable(piece)
        # half a character at the cut is no fault of the peer's
        replaced += piece.count(REPLACED) - (inbound.cut and is_last and piece.endswith(REPLACED))
        pieces.append(remove_invisible(piece))
        characters += len(pieces[-1])
        if characters >= most:
            break
    return None if _is_binary(inbound, decoded, unreadable, replaced) else "".join(pieces)[:most]


def _is_binary(inbound: InboundResponse, characters: int, unreadable: int, replaced: int) -> bool:
    """Tell a body that is not text by its bytes: of a textual type, it may have some faults; of any other, none."""
    if not TEXT_TYPE.fullmatch(get_media_type(inbound) or ""):
        return unreadable + replaced > 0
    return unreadable + replaced > STRAY_MAX and is_noise(characters, unreadable, replaced)


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
    if (marked := find_mark(inbound.body)) is not None:
        return marked
    match = CHARSET.search(get_header(inbound, "content-type") or "")
    return CODECS.get(match[1].lower() if match else "utf-8", "utf-8"), 0
