"""Texts: which content types are told as text (S4-58), and as much of a text as is shown, with where the rest begins."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass, field

TEXT_CHARACTERS_MAX = 30_000
"""Of a text that is shown at once (S4-60)."""

ESCAPED_CHARACTERS_MAX = 45_000
"""Of the same as JSON, where quotes and line ends take two characters, and a control character six."""

TEXT_BYTES_MAX = 4 * TEXT_CHARACTERS_MAX + 4
"""What has to be read for that: a character has at most four bytes in UTF-8, and one may be cut on each side."""

TEXT_TYPES = frozenset(("application/javascript", "application/json", "application/xml", "application/yaml"))

_CONTINUATION = range(0x80, 0xC0)


@dataclass(frozen=True, slots=True)
class ShownText:
    """A part of a text, and the byte of its UTF-8 that the next part begins at; `is_all` where there is no next one."""

    text: str = field(repr=False)
    next_offset: int
    is_all: bool


def is_text_type(content_type: str) -> bool:
    """Tell whether a content of this type is told as text; its parameters do not count, and no type is text (S4-58)."""
    name = content_type.partition(";")[0].strip().lower()
    return not name or name.startswith("text/") or name in TEXT_TYPES


def show_text(content: bytes, offset: int, size_bytes: int) -> ShownText | None:
    """Return what is shown of `content`, which begins at byte `offset` of `size_bytes`; None where it is no UTF-8.

    What begins in the middle of a character begins at the next one. The part has at most `TEXT_CHARACTERS_MAX` characters, and
    `ESCAPED_CHARACTERS_MAX` as JSON.
    """
    begin = 0
    while offset and begin < min(3, len(content)) and content[begin] in _CONTINUATION:
        begin += 1
    is_end = offset + len(content) >= size_bytes
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(content[begin:], final=is_end)
    except UnicodeDecodeError:
        return None
    part = _fit(text[:TEXT_CHARACTERS_MAX])
    after = offset + begin + len(part.encode())
    return ShownText(part, after, is_all=after >= size_bytes)


def _fit(text: str) -> str:
    """Return the beginning of a text that fits as JSON."""
    while len(json.dumps(text, ensure_ascii=False)) > ESCAPED_CHARACTERS_MAX:
        text = text[: max(1, len(text) * ESCAPED_CHARACTERS_MAX // (len(json.dumps(text, ensure_ascii=False)) + 1))]
    return text


def encode_text(text: str) -> bytes | None:
    """Return a text in UTF-8; None for what UTF-8 does not have: half of a surrogate pair."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None
