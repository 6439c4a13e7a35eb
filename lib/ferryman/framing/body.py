"""Bodies in frames: a text that holds no credential any more, neutralized, cut and framed, and what part of a result it is."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.calls.call import TRUNCATED
from ferryman.domain.calls.part import Part, PartKind
from ferryman.framing import frame


@dataclass(frozen=True, slots=True, kw_only=True)
class FramedText:
    """A response, or a text of the system, as the model reads it; whether it is a success, and what its body is."""

    content: str = field(repr=False)
    part: Part
    ok: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FramedBody:
    """A body as it is framed. `cut` tells that some of it is missing, `marked` that its text says so itself.

    `sha256` is of a binary one.
    """

    text: str = field(repr=False)
    kind: PartKind
    cut: bool
    marked: bool = False
    sha256: str | None = None

    @property
    def marker(self) -> str:
        """What follows a text that was cut; the description of a binary body says it itself."""
        return TRUNCATED if self.cut and not self.marked and self.kind is not PartKind.BINARY else ""

    def wrap(self, *, nonce: str, attributes: str = "") -> str:
        """Return the body in its frame, as `frame.wrap` does."""
        return frame.wrap(self.text + self.marker, nonce=nonce, truncated=self.cut, attributes=attributes)

    def locate(self, content: str) -> Part:
        """Return the part of `content` that is the body: `content` ends with its frame."""
        end = len(content) - len(frame.CLOSING) - len(self.marker)
        return Part(kind=self.kind, start=end - len(self.text), end=end)


def build_body(text: str, *, cut: bool, most: int, marked: bool = False) -> FramedBody:
    """Return a text without credentials as the body of a frame, at most `most` characters of it.

    `cut` tells that some of it is missing already, `marked` that it says so itself.
    """
    marked, cut = marked and len(text) <= most, cut or len(text) > most
    body = frame.neutralize(text[:most])
    if len(body) > most:
        body, cut, marked = frame.neutralize(body[:most])[:most], True, False
    kind = PartKind.JSON if not cut and is_json_tree(body) else PartKind.TEXT
    return FramedBody(text=body, kind=kind, cut=cut, marked=marked)


def frame_scanned(text: str, nonce: str, line: str, attributes: str, cut: bool, marked: bool, most: int) -> FramedText:
    """Return `build_body` of `text` in its frame, after `line`. Positional, for workers."""
    body = build_body(text, cut=cut, most=most, marked=marked)
    content = line + body.wrap(nonce=nonce, attributes=attributes)
    return FramedText(content=content, part=body.locate(content))


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
