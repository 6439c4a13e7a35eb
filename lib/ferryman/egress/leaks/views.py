"""Views: a text and everything it decodes to, however the notations are nested."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ferryman.egress.leaks import escapes, runs

BUDGET_CHARACTERS = 4_194_304
"""All views of one text together, beyond eight times the text itself."""

SMALL = 16_384
"""Texts up to this length are also looked at without their separators, and in both orders of undoing escapes."""

REVERSED_MAX = 4_096
_SEPARATORS = re.compile(r"[^A-Za-z0-9+/=]+")
_SPREAD = re.compile(r"(?s).([ \t\n.,:;|_*~/+-])(?:.\1){15,}+.?")


class TooDeep(Exception):  # noqa: N818 - reads as the fact it states
    """The text unfolds into more than may be looked through; it is treated as if it held a secret."""


def views(text: str) -> Iterator[str | bytes]:
    """`text`, then what it decodes to until nothing new comes. Raises `TooDeep`.

    Bytes are dead ends: they are looked through, and not decoded again.
    """
    budget = BUDGET_CHARACTERS + 8 * len(text)
    seen: set[str] = set()
    decoded: set[str] = set()
    waiting = [*_turned(text), text]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        budget -= len(current)
        if budget < 0:
            raise TooDeep
        yield current
        waiting += (each for each in _rewritten(current) if each not in seen)
        for content, promising in runs.decoded(current, decoded):
            waiting += (runs.text_of(opened) for opened in runs.inflated(content))
            if promising:
                waiting.append(runs.text_of(content))
            else:
                yield content


def _turned(text: str) -> Iterator[str]:
    if len(text) <= REVERSED_MAX:
        yield text[::-1]
    if len(text) <= SMALL:
        squeezed = _SEPARATORS.sub("", text)
        if 16 <= len(squeezed) < len(text):
            yield squeezed


def _rewritten(text: str) -> Iterator[str]:
    """`text` with its escapes undone, and, while it is small, the other way round and with a repeated separator taken out."""
    if len(text) > SMALL:
        yield escapes.quoted_printable(escapes.unescaped(text))
        return
    yield escapes.unescaped(text)
    yield escapes.quoted_printable(text)
    yield _SPREAD.sub(lambda found: found[0][::2], text)
