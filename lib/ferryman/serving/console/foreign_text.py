"""Texts of others on a page: hidden characters are shown, and spaces that a reader sees anyway stay spaces."""

from __future__ import annotations

import re

from ferryman.domain.approvals.visible import show_text

INDENT_MAX = 80
"""A line that is indented further shows how far, instead of leaving the screen."""

_INDENTED = re.compile(rf"(?P<indent>[ \t]{{0,{INDENT_MAX}}}+)(?P<rest>.*)", re.DOTALL)


def show_phrase(text: str) -> str:
    """Return a piece of a sentence, as one between two words in bold; the single space at either end is one between words."""
    before = " " if text.startswith(" ") else ""
    after = " " if text.endswith(" ") and len(text) > 1 else ""
    return before + show_text(text[len(before) : len(text) - len(after)]) + after


def show_block(text: str) -> str:
    """Return lines as a preformatted block shows them, with their breaks and indents."""
    return "\n".join(map(_show_line, text.split("\n")))


def _show_line(line: str) -> str:
    match = _INDENTED.match(line)
    assert match is not None
    rest = match["rest"].removesuffix("\r")
    return match["indent"] + show_text(rest) if rest else ""
