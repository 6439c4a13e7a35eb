"""Sanitizing of responses (defence against prompt injection): the model reads them only as framed external data."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX, TRUNCATED
from ferryman.domain.http.request import InboundResponse
from ferryman.domain.http.status import describe_failure, is_error
from ferryman.egress import frame
from ferryman.egress.frame import remove_invisible
from ferryman.egress.leaks import SecretScanner, StepBudget, is_clean, redact_json, redact_text
from ferryman.egress.response_head import get_retry_after, read_head
from ferryman.egress.text import CHARACTERS_READ, decode_text, describe_binary


def render_response(
    inbound: InboundResponse,
    scanner: SecretScanner,
    *,
    nonce: str,
    ok: Collection[int] | None = None,
    most: int = RESULT_CHARACTERS_MAX,
) -> str:
    """Return a response for the model: decoded, stripped, redacted, cut to `most` characters and framed, in this order.

    Redacting before the cut, and after the stripping, since either could otherwise put a secret together or hide half of one.
    A status that is an error is told in a line before the frame: `ok` are those that are none; None: all below 400.
    """
    framed = _render_frame(inbound, scanner, nonce, most)
    if is_error(inbound.status) if ok is None else inbound.status not in ok:
        return f"{describe_failure(inbound.status, get_retry_after(inbound))}\n{framed}"  # S0-142, S1-39
    return framed


def _render_frame(inbound: InboundResponse, scanner: SecretScanner, nonce: str, most: int) -> str:
    head = read_head(inbound, scanner)
    text = decode_text(inbound)
    if text is None:
        body = describe_binary(inbound, head.content_type, scanner)
        return frame.wrap(body, nonce=nonce, truncated=inbound.cut, attributes=str(head))
    return _redact_and_frame(text, scanner, nonce=nonce, cut=inbound.cut, most=most, attributes=str(head))


def frame_text(text: str, scanner: SecretScanner, *, nonce: str, most: int = RESULT_CHARACTERS_MAX) -> str:
    """Return a text of the system that quotes others, stripped, redacted, cut to `most` characters and framed."""
    return _redact_and_frame(remove_invisible(text)[:CHARACTERS_READ], scanner, nonce=nonce, cut=False, most=most)


def _redact_and_frame(read: str, scanner: SecretScanner, *, nonce: str, cut: bool, most: int, attributes: str = "") -> str:
    text = _redact(read, scanner)
    cut = cut or len(read) == CHARACTERS_READ or len(text) > most
    body = frame.neutralize(text[:most])
    if len(body) > most:
        body, cut = frame.neutralize(body[:most])[:most], True
    return frame.wrap(body + TRUNCATED if cut else body, nonce=nonce, truncated=cut, attributes=attributes)


def _redact(read: str, scanner: SecretScanner) -> str:
    """Return `read` without credentials; nearly all small texts have none, as a single look at all of one tells."""
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
