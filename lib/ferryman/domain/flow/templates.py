"""Templates: a title in quotes that a person left a place in, such as 'Dinner at {restaurant}': the other words are theirs.

What fills the place may be anybody's. So a template counts for the title of a new thing alone, which is read and decides
nothing about where it goes; it may not be all of the title, nor be filled with a link, an address or an account number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ferryman.domain.flow.identifiers import list_identifiers
from ferryman.domain.flow.tokens import TEXT_CHARACTERS_MAX, has_hidden

TEMPLATES_MAX = 100
"""How many templates of a text are looked for, the first ones."""

TEMPLATE_CHARACTERS_MAX = 200
"""How far around its place a template may reach."""

FIXED_CHARACTERS_MIN = 4
"""How many letters and digits of a template have to be the person's own."""

FILLED_CHARACTERS_MAX = 100
"""How long the text may be that fills the place."""

_PLACE = re.compile(r"(?<!\{)\{[A-Za-z][\w ]{0,49}\}(?!\})")
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}
_ENDS = frozenset("\"'`“”‘’«»\n{}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleTemplate:
    """A template: its text before and after the place, and where it is in the text that it is of."""

    before: str = field(repr=False)
    after: str = field(repr=False)
    start: int
    end: int

    def fits(self, value: str) -> bool:
        """Tell whether `value` is the template with its place filled."""
        if not value.startswith(self.before) or not value.endswith(self.after):
            return False
        filled = value[len(self.before) : len(value) - len(self.after)].strip()
        if not filled or len(value) < len(self.before) + len(self.after) or len(filled) > FILLED_CHARACTERS_MAX:
            return False
        is_plain = len(value.splitlines()) == 1 and "\t" not in value and not has_hidden(value)
        return is_plain and next(list_identifiers(value), None) is None


def list_templates(text: str) -> Iterator[TitleTemplate]:
    """Yield the templates in `text`: each in quotes, on one line, with one place."""
    text = text[:TEXT_CHARACTERS_MAX]
    for count, match in enumerate(_PLACE.finditer(text)):
        if count >= TEMPLATES_MAX:
            return
        start, end = match.start(), match.end()
        reach = max(0, start - TEMPLATE_CHARACTERS_MAX), min(len(text), end + TEMPLATE_CHARACTERS_MAX)
        while start > reach[0] and text[start - 1] not in _ENDS:
            start -= 1
        while end < reach[1] and text[end] not in _ENDS:
            end += 1
        is_quoted = reach[0] < start and end < reach[1] and _QUOTES.get(text[start - 1]) == text[end]
        before, after = text[start : match.start()], text[match.end() : end]
        fixed = sum(character.isalnum() for character in before + after)
        joins_word = before[-1:].isalnum() or after[:1].isalnum()
        if is_quoted and fixed >= FIXED_CHARACTERS_MIN and not joins_word:
            yield TitleTemplate(before=before, after=after, start=start, end=end)
