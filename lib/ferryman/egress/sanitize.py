"""Sanitizing of responses (defence against prompt injection): the model reads them only as framed external data."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX
from ferryman.domain.calls.part import PartKind
from ferryman.domain.http.request import InboundResponse
from ferryman.domain.http.status import describe_failure, is_success
from ferryman.egress.leaks import SecretScanner, StepBudget, is_clean, redact_json, redact_text
from ferryman.egress.response_head import INVALID, get_retry_after, read_head
from ferryman.egress.text import decode_text, describe_binary
from ferryman.framing.body import FramedBody, FramedText, build_body
from ferryman.framing.frame import remove_invisible
from ferryman.framing.windows import CHARACTERS_READ


def render_response(
    inbound: InboundResponse,
    scanner: SecretScanner,
    *,
    nonce: str,
    accepted: Collection[int] | None = None,
    most: int = RESULT_CHARACTERS_MAX,
) -> FramedText:
    """Return a response for the model: decoded, stripped, redacted, cut to `most` characters and framed, in this order.

    Redacting before the cut, and after the stripping, since either could otherwise put a secret together or hide half of one.
    A status that is no success is told in a line before the frame; a success is one of those `accepted`; None: all below 400.
    What kind of part the body is follows from its bytes as they are shown, not from what its host calls them.
    """
    head = read_head(inbound, scanner)
    text, ok = decode_text(inbound), is_success(inbound.status, accepted)
    if text is None:
        description, sha256 = describe_binary(inbound, head.content_type, scanner)
        body = FramedBody(text=description, kind=PartKind.BINARY, cut=inbound.cut, sha256=sha256)
    else:
        body = _build_body(text, scanner, cut=inbound.cut, most=most)
    line = "" if ok else f"{describe_failure(inbound.status, get_retry_after(inbound))}\n"  # S0-142, S1-39
    content = line + body.wrap(nonce=nonce, attributes=str(head))
    part = replace(
        body.locate(content),
        media_type=None if head.content_type == INVALID else head.content_type,
        size_bytes=len(inbound.body) if body.kind is PartKind.BINARY else None,
        sha256=body.sha256,
    )
    return FramedText(content=content, part=part, ok=ok)


def frame_text(text: str, scanner: SecretScanner, *, nonce: str, most: int = RESULT_CHARACTERS_MAX) -> FramedText:
    """Return a text of the system that quotes others, stripped, redacted, cut to `most` characters and framed."""
    body = _build_body(remove_invisible(text)[:CHARACTERS_READ], scanner, cut=False, most=most)
    content = body.wrap(nonce=nonce)
    return FramedText(content=content, part=body.locate(content))


def _build_body(read: str, scanner: SecretScanner, *, cut: bool, most: int) -> FramedBody:
    return build_body(redact_read(read, scanner), cut=cut or len(read) == CHARACTERS_READ, most=most)


def redact_read(read: str, scanner: SecretScanner) -> str:
    """Return `read`, at most `CHARACTERS_READ` of a text, without credentials.

    Nearly all small texts have none, as a single look at all of one tells.
    """
    if is_clean(read, _read_json(read), scanner):
        return read
    budget = scanner.allow(len(read), passes=2)
    text = redact_text(read, scanner, budget)
    if text != read and _is_json(read) and not _is_json(text):
        # a quotation mark was cut out too, so a secret that is split over the rest would no longer be found
        text = redact_text(redact_json_text(read, scanner, budget), scanner, budget)
    return redact_json_text(text, scanner, budget)


def _read_json(text: str) -> Any:
    """Return the value of a text that is JSON, else the text."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


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
