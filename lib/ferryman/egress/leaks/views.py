"""Views: a text and all its decoded forms, however the notations are nested, within a budget of steps (decompression bombs)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ferryman.egress.leaks import encodings
from ferryman.egress.leaks.shapes import build_shape_table
from ferryman.egress.leaks.words import join_words
from ferryman.framing import escapes

STEPS = 5_500_000  # For any text: enough for one compressed stream of the greatest length. A step takes some 7 ns of CPU.
SMALL = 8_192
"""Texts up to this length are also read backwards and without separators, and decoded again after every change."""

STEPS_PER_CHARACTER, STEPS_PER_CHARACTER_OF_SMALL = 48, 1_080
"""For each scan of a text: an honest small text has some eighty decoded views."""

STEPS_OF_TEXT, STEPS_OF_BYTES = 3_000, 300  # for each view, however short
STEPS_OF_CHARACTER, STEPS_OF_BYTE = 12, 1  # a character is decoded further, a byte is only searched


class NestingLimitError(Exception):
    """The text decodes to more than the budget allows; it is treated as if it held a secret."""


class StepsSpentError(Exception):
    """The steps of a `ShortBudget` are spent: nothing is known of the text, which is to be read elsewhere."""


class StepBudget:
    """The steps for a text of `length` characters that is scanned `passes` times, whole or in parts.

    Steps are spent from `within` as well, where it is given.
    """

    _error: type[Exception] = NestingLimitError

    def __init__(self, length: int, *, passes: int = 1, within: StepBudget | None = None) -> None:
        rate = STEPS_PER_CHARACTER_OF_SMALL if length <= SMALL else STEPS_PER_CHARACTER
        self.remaining = STEPS + rate * length * passes
        self._within = within

    def spend(self, view: str | bytes, *, further: bool = True) -> None:
        """Spend the steps of scanning `view`, and of decoding it `further` where it is text. Raise `NestingLimitError`."""
        if further and isinstance(view, str):
            self._spend(STEPS_OF_TEXT + STEPS_OF_CHARACTER * len(view))
        else:
            self._spend(STEPS_OF_BYTES + STEPS_OF_BYTE * len(view))

    def _spend(self, steps: int) -> None:
        self.remaining -= steps
        if self._within is not None:
            self._within._spend(steps)
        if self.remaining < 0:
            raise self._error


class ShortBudget(StepBudget):
    """A few steps, whatever the length of the texts: for a caller that can have what takes more read elsewhere."""

    _error = StepsSpentError

    def __init__(self, steps: int) -> None:
        super().__init__(0)
        self.remaining = steps


MONOTONE_MAX = 64
TURNS_MAX = 2  # how often a text is reversed or loses its separators after its first decoding
LEAST = 4  # a shorter view holds no pattern
_SEPARATORS = bytes(code for code in range(128) if not (bytes((code,)).isalnum() or code in b"+/="))
_LONG_WORD_MIN = 24
_LONG_WORD = re.compile(rf"[^\s\"'<>,;]{{{_LONG_WORD_MIN},4096}}+")
_ENDS_OF_WORDS = "\"'<>,;"
_SPREAD = re.compile(r"(?s).([ \t\n.,:;|_*~/+-])(?:.\1){15,}+.?")
_SPREAD_SIGNS = build_shape_table(p=b" \t\n.,:;|_*~/+-")
_SPREAD_MARK = b"p" * 16


class _View(NamedTuple):
    """A text to decode: what of it is `unread`, how often it may be turned, and whether it was not since it was decoded."""

    text: str
    unread: str
    turns: int = TURNS_MAX
    straight: bool = True

    def __repr__(self) -> str:
        return f"_View({len(self.text)} characters)"  # its text has not been scanned


def iterate_views(
    *texts: str, thorough: bool = False, budget: StepBudget | None = None, small: int = SMALL
) -> Iterator[str | bytes]:
    """Yield `texts`, then their decoded forms until there is no new one. Raise `NestingLimitError` once `budget` is spent.

    Forms that were turned as often are decoded together, since a call of a decoder costs more than the characters of a small
    text. Bytes are scanned, and not decoded again; and so are the joined words of a longer text. A text of up to `small`
    characters counts as small. `thorough` reads the long words of a long text backwards too, which costs half as much again.
    """
    budget = StepBudget(max(map(len, texts), default=0), passes=len(texts), within=budget)
    seen: set[str | bytes] = set()
    known: set[bytes] = set()
    level = [_View(text, text) for text in dict.fromkeys(texts)]
    for view in level:
        budget.spend(view.text)
        seen.add(view.text)
        yield view.text
    is_first = True
    while level:
        for before in level:  # it grows meanwhile
            for view in _iterate_turned(before, small, thorough=thorough):
                if len(view.text) < LEAST:
                    continue
                budget.spend(view.text)
                if view.text not in seen:
                    seen.add(view.text)
                    yield view.text
                    level.append(view)
        groups: dict[int, list[_View]] = {}
        for view in level:
            groups.setdefault(TURNS_MAX if is_first else view.turns, []).append(view)
        level, is_first = [], False
        for turns, group in groups.items():
            for form, straight, further in _decode_group(group, known, small):
                if len(form) < LEAST:
                    continue
                budget.spend(form, further=further)  # one that is not new took as long to make
                if form not in seen:
                    seen.add(form)
                    yield form
                    if further and isinstance(form, str) and not _is_monotone(form):
                        level.append(_View(form, form, turns, straight))


def _is_monotone(text: str) -> bool:
    """Tell whether all but two characters of a short text are equal, as numbers are decoded to by chance.

    There are 2 ** 31 such texts: far too few for one of them to spell a part of a credential that is a leak.
    """
    return len(text) <= MONOTONE_MAX and any(text.count(character) >= len(text) - 2 for character in text[:3])


def _iterate_turned(before: _View, small: int, *, thorough: bool) -> Iterator[_View]:
    """Yield a text with its escapes undone, and turned where it may be."""
    for text in _unescape(before.text, small):
        if text != before.text:
            yield before._replace(text=text, unread=_select_changed(before.text, text) if len(text) > small else text)
    if before.straight and before.turns:
        for text in _reverse(before.text, small, thorough=thorough):
            yield _View(text, text, before.turns - 1, straight=False)


def _decode_group(group: list[_View], known: set[bytes], small: int) -> Iterator[tuple[str | bytes, bool, bool]]:
    """Yield the decoded forms of texts; with each, whether it may be turned, and whether it is decoded further."""
    for form in encodings.decode(*(view.unread for view in group), known=known):
        yield form, True, True
    unread = [view.unread for view in group if view.straight]
    for few in (True, False):
        if chosen := [text for text in unread if (len(text) <= small) is few]:
            for joined, further in join_words(*chosen, small=few):
                yield joined, False, further


def undo_all_escapes(text: str) -> str:
    """Return `text` with its escapes undone once, in their most frequent order."""
    return escapes.undo_quoted_printable(escapes.undo_escapes(text))


def _unescape(text: str, small: int) -> Iterator[str]:
    """Yield `text` with its escapes undone; a small text in several orders, since one escape may look like another."""
    if len(text) > small:
        yield undo_all_escapes(text)
        return
    yield escapes.undo_escapes(text)
    yield escapes.undo_percents(text)
    yield escapes.undo_quoted_printable(text)


def _select_changed(before: str, after: str) -> str:
    """Return the parts of `after` that are not in `before`: the others have been decoded already."""
    known = set(_split_parts(before))
    return "\n".join([part for part in _split_parts(after) if part not in known])


def _split_parts(text: str) -> list[str]:
    return text.replace('"', "\n").replace("<", "\n").split("\n")


def _reverse(text: str, small: int, *, thorough: bool) -> Iterator[str]:
    """Yield `text` backwards and without separators."""
    if len(text) > small:
        if thorough:
            for sign in _ENDS_OF_WORDS:
                text = text.replace(sign, " ")
            # the pattern takes ten times as long as to split a text
            yield "\n".join(_LONG_WORD.findall("\n".join([word for word in text.split() if len(word) >= _LONG_WORD_MIN])))[::-1]
        return
    yield text[::-1]
    plain = text.encode("ascii", "ignore")
    compact = plain.translate(None, _SEPARATORS).decode()
    if len(compact) >= 16:
        yield compact
    shape = (plain if len(plain) == len(text) else text.encode("ascii", "replace")).translate(_SPREAD_SIGNS)
    if _SPREAD_MARK in shape[::2] or _SPREAD_MARK in shape[1::2]:
        yield _SPREAD.sub(lambda match: match[0][::2], text)
