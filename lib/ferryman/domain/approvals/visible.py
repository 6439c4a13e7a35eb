"""Text as a person can see all of it: what hides, reorders or overprints is its code point (prevents Trojan Source).

No two texts are shown the same: `⟨` begins an escape, and one that is in the text is an escape itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

SPACES_MAX = 8
"""A longer run of spaces is counted in the place of being shown: it would push what follows out of sight."""

LINES_MAX = 4
"""The same for line breaks."""

BREAK = "↵"
"""What shows a line break, at the end of its line."""

_PLACEHOLDER = r"\{\{secrets\.(?P<secret>[A-Za-z][A-Za-z0-9_]{0,63})\}\}"
_SPECIAL = re.compile(rf"{_PLACEHOLDER}|^ +| +$| {{{SPACES_MAX + 1},}}|(?P<run>[^\x20-\x7e])(?P=run)*")
_BREAKS = re.compile(rf"\n{{{LINES_MAX + 1},}}|\n")
_NAME = re.compile(r"(?P<run>[^A-Za-z0-9_.$\[\]-])(?P=run)*")
_RIGHT_TO_LEFT = ("R", "AL", "AN")
_VISIBLE = ("L", "N", "P", "S")
_MARK = "M"
_RESERVED = frozenset("⟨" + BREAK)
_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u034f\u180b\u180c\u180d\u180f")
"""Letters, symbols and marks that nobody sees, as the variation selectors."""


def show_text(text: str, *, secrets: Collection[str] = ()) -> str:
    """Return `text` on one line, with every character to be seen; `{{secrets.NAME}}` of one of `secrets` is marked."""

    def show(match: re.Match[str]) -> str:
        name = match["secret"]
        if name is not None:
            return f"⟨secret {name}⟩" if name in secrets else match[0]
        run: str = match[0]
        return run if _is_visible(run, match) else _write_escape(run[0], len(run))

    return _SPECIAL.sub(show, text)


def show_name(text: str) -> str:
    """Return a name without anything that could end it: of ASCII letters, digits and `_.$[]-`, and escapes."""
    return _NAME.sub(lambda match: _write_escape(match["run"], len(match[0])), text)


def show_lines(text: str, *, secrets: Collection[str] = ()) -> list[str]:
    """Return `text` line by line, with every line break to be seen."""
    lines, start = [], 0
    for match in _BREAKS.finditer(text):
        count = len(match[0])
        line = show_text(text[start : match.start()], secrets=secrets)
        lines.append(line + (BREAK if count == 1 else _write_escape("\n", count)))
        start = match.end()
    return [*lines, show_text(text[start:], secrets=secrets)]


def is_reordered(text: str) -> bool:
    """Tell whether `text` has letters that are written from right to left: a terminal may show them in another order."""
    return not text.isascii() and any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text)


def _write_escape(character: str, count: int) -> str:
    return f"⟨U+{ord(character):04X}⟩" if count == 1 else f"⟨U+{ord(character):04X} ×{count}⟩"


def _is_visible(run: str, match: re.Match[str]) -> bool:
    character = run[0]
    if character == " " or character in _RESERVED or character in _BLANK:
        return False
    category = unicodedata.category(character)
    if category[0] == _MARK:
        return len(run) == 1 and not 0xFE00 <= ord(character) <= 0xFE0F and ord(character) < 0xE0000 and _follows_letter(match)
    return category[0] in _VISIBLE


def _follows_letter(match: re.Match[str]) -> bool:
    """Tell whether a mark belongs to a letter, with at most one other mark between: more of them would cover other lines."""
    before = match.string[max(0, match.start() - 2) : match.start()]
    kinds = [unicodedata.category(character)[0] for character in before]
    return kinds[-1:] == ["L"] or kinds == ["L", _MARK]
