"""Views: a text and everything it decodes to, however the notations are nested."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import chain

from ferryman.egress.leaks import escapes, runs

BUDGET_CHARACTERS = 2_621_440
"""All views of one text together, beyond sixteen times the text itself: a compressed stream as long as may be skimmed, once."""

SMALL = 8_192
"""Texts up to this length are also looked at backwards and without their separators, and decoded anew after every change."""

TURNS_MAX = 2
"""How often, on the way to what is decoded, something is turned round or loses its separators."""

LEAST = 4
"""What is shorter holds no needle."""

_SEPARATORS = re.compile(r"[^A-Za-z0-9+/=]+")
_LONG_WORD = re.compile(r"[^\s\"'<>,;]{24,4096}+")
_SPREAD = re.compile(r"(?s).([ \t\n.,:;|_*~/+-])(?:.\1){15,}+.?")


class TooDeep(Exception):  # noqa: N818 - reads as the fact it states
    """The text unfolds into more than may be looked through; it is treated as if it held a secret."""


def views(text: str, *, thorough: bool = False) -> Iterator[str | bytes]:
    """`text`, then what it decodes to until nothing new comes. Raises `TooDeep`.

    Bytes are dead ends: they are looked through, and not decoded again. `thorough` takes the long words of a long text
    backwards too, which costs half as much again.
    """
    budget = BUDGET_CHARACTERS + 16 * len(text)
    seen: set[str | bytes] = {text}
    waiting = deque([(text, text, TURNS_MAX, True)])
    yield text
    while waiting:
        current, unread, turns, straight = waiting.popleft()
        for each, left, turnable, part in chain(
            ((each, turns, straight, True) for each in _unescaped(current)),
            ((each, turns - 1, False, False) for each in _turned(current, thorough=thorough) if straight and turns),
            ((each, turns, True, False) for each in runs.decoded(unread)),
        ):
            if len(each) < LEAST or each == current:
                continue
            budget -= len(each)
            if budget < 0:
                raise TooDeep
            if each in seen:
                continue
            seen.add(each)
            yield each
            if isinstance(each, str):
                waiting.append((each, _changed(current, each) if part and len(each) > SMALL else each, left, turnable))


def unescaped(text: str) -> str:
    """`text` with its escapes undone once, in the order in which they are mostly written."""
    return escapes.quoted_printable(escapes.unescaped(text))


def _unescaped(text: str) -> Iterator[str]:
    """`text` with its escapes undone, and, while it is small, in several orders: one may look like another's escape."""
    if len(text) > SMALL:
        yield unescaped(text)
        return
    yield escapes.unescaped(text)
    yield escapes.percents(text)
    yield escapes.quoted_printable(text)


def _changed(before: str, after: str) -> str:
    """The parts of `after` that were not in `before`: the others have been decoded already."""
    known = set(_parts(before))
    return "\n".join(part for part in _parts(after) if part not in known)


def _parts(text: str) -> list[str]:
    return text.replace('"', "\n").replace("<", "\n").split("\n")


def _turned(text: str, *, thorough: bool) -> Iterator[str]:
    """`text` backwards and without separators. What comes of it is not turned round so soon again."""
    if len(text) > SMALL:
        if thorough:
            yield "\n".join(_LONG_WORD.findall(text))[::-1]
        return
    yield text[::-1]
    squeezed = _SEPARATORS.sub("", text)
    if len(squeezed) >= 16:
        yield squeezed
    yield _SPREAD.sub(lambda found: found[0][::2], text)
