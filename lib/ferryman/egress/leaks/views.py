"""Views: a text and everything it decodes to, however the notations are nested."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import chain

from ferryman.egress.leaks import escapes, runs, words
from ferryman.egress.leaks.budget import SMALL, StepBudget

TURNS_MAX = 2
"""How often, on the way to what is decoded, something is turned round or loses its separators."""

LEAST = 4
"""What is shorter holds no needle."""

_SEPARATORS = re.compile(r"[^A-Za-z0-9+/=]+")
_LONG_WORD = re.compile(r"[^\s\"'<>,;]{24,4096}+")
_SPREAD = re.compile(r"(?s).([ \t\n.,:;|_*~/+-])(?:.\1){15,}+.?")


def iterate_views(
    text: str, *, thorough: bool = False, budget: StepBudget | None = None, small: int = SMALL
) -> Iterator[str | bytes]:
    """Yield `text`, then what it decodes to until nothing new comes. Raise `NestingLimitError` where that is too much, or
    `budget` is spent.

    Bytes are dead ends: they are looked through, and not decoded again; and so are the joined words of a longer text. Up to
    `small` characters a text counts as small. `thorough` takes the long words of a long text backwards too, which costs half
    as much again.
    """
    budget = StepBudget(len(text), within=budget)
    budget.spend(text)
    seen: set[str | bytes] = {text}
    waiting = deque([(text, text, TURNS_MAX, True)])
    yield text
    while waiting:
        current, unread, turns, straight = waiting.popleft()
        few = len(unread) <= small
        for each, left, turnable, part, further in chain(
            ((each, turns, straight, True, True) for each in _unescaped(current, small)),
            (
                (each, turns - 1, False, False, True)
                for each in _turned(current, small, thorough=thorough)
                if straight and turns
            ),
            ((each, turns, True, False, isinstance(each, str)) for each in runs.decode(unread)),
            ((each, turns, False, False, deep) for each, deep in (words.join_words(unread, small=few) if straight else ())),
        ):
            if len(each) < LEAST or each == current:
                continue
            budget.spend(each, further=further)
            if each in seen:
                continue
            seen.add(each)
            yield each
            if further and isinstance(each, str):
                waiting.append((each, _changed(current, each) if part and len(each) > small else each, left, turnable))


def undo_all_escapes(text: str) -> str:
    """Return `text` with its escapes undone once, in the order in which they are mostly written."""
    return escapes.undo_quoted_printable(escapes.undo_escapes(text))


def _unescaped(text: str, small: int) -> Iterator[str]:
    """Yield `text` with its escapes undone, and, while it is small, in several orders: one may look like another's escape."""
    if len(text) > small:
        yield undo_all_escapes(text)
        return
    yield escapes.undo_escapes(text)
    yield escapes.undo_percents(text)
    yield escapes.undo_quoted_printable(text)


def _changed(before: str, after: str) -> str:
    """Return the parts of `after` that were not in `before`: the others have been decoded already."""
    known = set(_parts(before))
    return "\n".join(part for part in _parts(after) if part not in known)


def _parts(text: str) -> list[str]:
    return text.replace('"', "\n").replace("<", "\n").split("\n")


def _turned(text: str, small: int, *, thorough: bool) -> Iterator[str]:
    """Yield `text` backwards and without separators. What comes of it is not turned round so soon again."""
    if len(text) > small:
        if thorough:
            yield "\n".join(_LONG_WORD.findall(text))[::-1]
        return
    yield text[::-1]
    squeezed = _SEPARATORS.sub("", text)
    if len(squeezed) >= 16:
        yield squeezed
    yield _SPREAD.sub(lambda found: found[0][::2], text)
