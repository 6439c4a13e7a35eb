"""Views: a text and all its decoded forms, however the notations are nested, within a budget of steps (decompression bombs)."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import chain

from ferryman.egress import escapes
from ferryman.egress.leaks import encodings
from ferryman.egress.leaks.words import join_words

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


TURNS_MAX = 2  # how often a text is reversed or loses its separators between two decodings
LEAST = 4  # a shorter view holds no pattern
_SEPARATORS = bytes(code for code in range(128) if not (bytes((code,)).isalnum() or code in b"+/="))
_LONG_WORD = re.compile(r"[^\s\"'<>,;]{24,4096}+")
_SPREAD = re.compile(r"(?s).([ \t\n.,:;|_*~/+-])(?:.\1){15,}+.?")
_SPREAD_MARKS = [sign * 16 for sign in " \t\n.,:;|_*~/+-"]


def iterate_views(
    text: str, *, thorough: bool = False, budget: StepBudget | None = None, small: int = SMALL
) -> Iterator[str | bytes]:
    """Yield `text`, then its decoded forms until there is no new one. Raise `NestingLimitError` once `budget` is spent.

    Bytes are scanned, and not decoded again; and so are the joined words of a longer text. A text of up to `small` characters
    counts as small. `thorough` reads the long words of a long text backwards too, which costs half as much again.
    """
    budget = StepBudget(len(text), within=budget)
    budget.spend(text)
    seen: set[str | bytes] = {text}
    known: set[bytes] = set()
    waiting = deque([(text, text, TURNS_MAX, True)])
    yield text
    while waiting:
        current, unread, turns, straight = waiting.popleft()
        few = len(unread) <= small
        reversals = _reverse(current, small, thorough=thorough) if straight and turns else ()
        joined = join_words(unread, small=few) if straight else ()
        for view, turns_after, straight_after, part, further in chain(
            ((view, turns, straight, True, True) for view in _unescape(current, small)),
            ((view, turns - 1, False, False, True) for view in reversals),
            ((view, turns, True, False, isinstance(view, str)) for view in encodings.decode(unread, known)),
            ((view, turns, False, False, deep) for view, deep in joined),
        ):
            if len(view) < LEAST or view == current:
                continue
            budget.spend(view, further=further)
            if view in seen:
                continue
            seen.add(view)
            yield view
            if further and isinstance(view, str):
                unread_after = _select_changed(current, view) if part and len(view) > small else view
                waiting.append((view, unread_after, turns_after, straight_after))


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
    return "\n".join(part for part in _split_parts(after) if part not in known)


def _split_parts(text: str) -> list[str]:
    return text.replace('"', "\n").replace("<", "\n").split("\n")


def _reverse(text: str, small: int, *, thorough: bool) -> Iterator[str]:
    """Yield `text` backwards and without separators."""
    if len(text) > small:
        if thorough:
            yield "\n".join(_LONG_WORD.findall(text))[::-1]
        return
    yield text[::-1]
    compact = text.encode("ascii", "ignore").translate(None, _SEPARATORS).decode()
    if len(compact) >= 16:
        yield compact
    if any(mark in half for half in (text[::2], text[1::2]) for mark in _SPREAD_MARKS):
        yield _SPREAD.sub(lambda match: match[0][::2], text)
