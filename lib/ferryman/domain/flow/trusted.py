"""Trusted texts: whether a value occurs in what the owner, the operator or people alone wrote, and where.

A value occurs as a whole token, or as tokens that follow each other: never as a part of a word or put together from several
places. One of less than `VALUE_CHARACTERS_MIN` characters occurs only where a word that names its argument is before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ferryman.domain.flow.numbers import NumberIndex, index_numbers, read_number
from ferryman.domain.flow.templates import TitleTemplate, list_templates
from ferryman.domain.flow.tokens import SEPARATOR, TokenText, has_hidden, join_forms, join_tokens, tokenize

VALUE_CHARACTERS_MIN = 4
"""From how many characters on a value is trusted wherever it occurs: shorter ones occur by chance."""

VALUE_CHARACTERS_MAX = 10_000
"""A longer value is not looked for."""

EXCERPT_CHARACTERS = 40
"""How much of a text is shown on either side of what was found."""

_SKIPPED = frozenset("()[]{}<>\"'`«»“”‘’:=#@*_~.,") | {"is", "named", "called"}
"""What may be between a name and its value."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Where a value occurs: in which source, from which character to which, and with which words around it."""

    source: str
    start: int
    end: int
    excerpt: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedText:
    """A text that may decide where an effect goes; `source` says what it is, such as `prompt`."""

    source: str
    text: str = field(repr=False)
    _all: TokenText = field(repr=False)
    _named: TokenText = field(repr=False)
    _numbers: NumberIndex = field(repr=False)
    _templates: tuple[TitleTemplate, ...] = field(default=(), repr=False)

    def find(self, value: object, names: Sequence[str] = (), *, is_key: bool = False) -> Match | None:
        """Return where `value` occurs, as an argument that `names` name; None where it does not.

        A number is found however it is written, but where it is a key.
        """
        is_amount = isinstance(value, int | float) and not is_key
        span = self._find_number(value, names) if is_amount else self._find_text(str(value), names)
        if span is None:
            return None
        return self._show(*span)

    def find_template(self, title: str) -> Match | None:
        """Return the template that `title` is, with its place filled; None where it is none of this text."""
        template = next((template for template in self._templates if template.fits(title)), None)
        return None if template is None else self._show(template.start, template.end)

    def _show(self, start: int, end: int) -> Match:
        excerpt = self.text[max(0, start - EXCERPT_CHARACTERS) : end + EXCERPT_CHARACTERS]
        return Match(source=self.source, start=start, end=end, excerpt=" ".join(excerpt.split()))

    def _find_text(self, value: str, names: Sequence[str]) -> Span | None:
        value = value.strip()
        if not value or len(value) > VALUE_CHARACTERS_MAX or has_hidden(value):
            return None
        sought = join_forms([token.form for token in tokenize(value)])
        if len(value) >= VALUE_CHARACTERS_MIN:
            return self._all.find(sought)
        for name in names:
            span = self._named.find(f"{SEPARATOR}{name}{sought}")
            if span is not None:
                return span
        return None

    def _find_number(self, value: object, names: Sequence[str]) -> Span | None:
        number = read_number(str(value))
        place = self._numbers.find(number) if number is not None else None
        if place is not None and (place.is_money or place.end - place.start >= VALUE_CHARACTERS_MIN):
            return place.start, place.end
        if place is None:
            return None
        return self._find_text(self.text[place.start : place.end], names)


def index_text(source: str, text: str) -> TrustedText:
    """Return a text that is trusted, ready for values to be found in it."""
    tokens = tuple(tokenize(text))
    named = tuple(token for token in tokens if token.form not in _SKIPPED)
    return TrustedText(
        source=source,
        text=text,
        _all=join_tokens(tokens),
        _named=join_tokens(named),
        _numbers=index_numbers(tokens, text),
        _templates=tuple(list_templates(text)),
    )


def find_trusted(
    texts: Iterable[TrustedText], value: object, names: Sequence[str] = (), *, is_key: bool = False
) -> Match | None:
    """Return where `value` occurs in the first of the trusted texts that has it; None where none does."""
    return next((match for text in texts if (match := text.find(value, names, is_key=is_key)) is not None), None)
