"""Removal of invisible characters, which a reader does not see and a model does (prompt injection in hiding)."""

from __future__ import annotations

import re

_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A)}
# Format characters, fillers, joiners, tags, variation selectors, lone surrogates and noncharacters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_BREAKS = re.compile("\r\n?|\x85|\u2028|\u2029")


def remove_invisible(text: str) -> str:
    """Return `text` without controls (but tab and newline), bidi marks and invisible characters; line breaks are newlines."""
    if not text.isascii():
        return _UNSEEN.sub("", _BREAKS.sub("\n", text))
    # `translate` is fast with ASCII only
    return (_BREAKS.sub("\n", text) if "\r" in text else text).translate(_CONTROLS)
