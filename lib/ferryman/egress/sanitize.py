"""Sanitizing of responses (defence against prompt injection): the model reads them only as framed external data."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX, TRUNCATED
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.http.request import InboundResponse
from ferryman.domain.http.status import describe_failure, is_success
from ferryman.egress import frame
from ferryman.egress.frame import remove_invisible
from ferryman.egress.leaks import SecretScanner, StepBudget, is_clean, redact_json, redact_text
from ferryman.egress.response_head import INVALID, get_retry_after, read_head
from ferryman.egress.text import CHARACTERS_READ, decode_text, describe_binary


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedText:
    """A response, or a text of the system, as the model reads it; whether it is a success, and what its body is."""

    content: str = field(repr=False)
    part: Part
    ok: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Body:
    """A body as it is framed. `cut` tells that some of it is missing, `sha256` is of a binary one."""

    text: str
    kind: PartKind
    cut: bool
    sha256: str | None = None

    @property
    def marker(self) -> str:
        """What follows a text that was cut; the description of a binary body says it itself."""
        return TRUNCATED if self.cut and self.kind is not PartKind.BINARY else ""


def render_response(
    inbound: InboundResponse,
    scanner: SecretScanner,
    *,
    nonce: str,
    accepted: Collection[int] | None = None,
    most: int = RESULT_CHARACTERS_MAX,
) -> RenderedText:
    """Return a response for the model: decoded, stripped, redacted, cut to `most` characters and framed, in this order.

    Redacting before the cut, and after the stripping, since either could otherwise put a secret together or hide half of one.
    A status that is no success is told in a line before the frame; a success is one of those `accepted`; None: all below 400.
    What kind of part the body is follows from its bytes as they are shown, not from what its host calls them.
    """
    head = read_head(inbound, scanner)
    text, ok = decode_text(inbound), is_success(inbound.status, accepted)
    if text is None:
        description, sha256 = describe_binary(inbound, head.content_type, scanner)
        body = _Body(text=description, kind=PartKind.BINARY, cut=inbound.cut, sha256=sha256)
    else:
        body = _neutralize_text(text, scanner, cut=inbound.cut, most=most)
    line = "" if ok else f"{describe_failure(inbound.status, get_retry_after(inbound))}\n"  # S0-142, S1-39
    content = line + _wrap(body, nonce=nonce, attributes=str(head))
    part = replace(
        _locate(body, content),
        media_type=None if head.content_type == INVALID else head.content_type,
        size_bytes=len(inbound.body) if body.kind is PartKind.BINARY else None,
        sha256=body.sha256,
    )
    return RenderedText(content=content, part=part, ok=ok)


def frame_text(text: str, scanner: SecretScanner, *, nonce: str, most: int = RESULT_CHARACTERS_MAX) -> RenderedText:
    """Return a text of the system that quotes others, stripped, redacted, cut to `most` characters and framed."""
    body = _neutralize_text(remove_invisible(text)[:CHARACTERS_READ], scanner, cut=False, most=most)
    content = _wrap(body, nonce=nonce)
    return RenderedText(content=content, part=_locate(body, content))


def _wrap(body: _Body, *, nonce: str, attributes: str = "") -> str:
    return frame.wrap(body.text + body.marker, nonce=nonce, truncated=body.cut, attributes=attributes)


def _locate(body: _Body, content: str) -> Part:
    """Return the part of `content` that is the framed body."""
    end = len(content) - len(frame.CLOSING) - len(body.marker)
    return Part(kind=body.kind, start=end - len(body.text), end=end)


def _neutralize_text(read: str, scanner: SecretScanner, *, cut: bool, most: int) -> _Body:
    text = _redact(read, scanner)
    cut = cut or len(read) == CHARACTERS_READ or len(text) > most
    body = frame.neutralize(text[:most])
    if len(body) > most:
        body, cut = frame.neutralize(body[:most])[:most], True
    return _Body(text=body, kind=PartKind.JSON if not cut and is_json_tree(body) else PartKind.TEXT, cut=cut)


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


def is_json_tree(text: str) -> bool:
    """Say whether `text` is one object or array of JSON, as RFC 8259 has it."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        _STRICT.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant)
"""Python also reads NaN and Infinity, which no other reader of JSON does."""


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
