"""Views: a text and everything it decodes to, however the notations are nested."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ferryman.egress.leaks import escapes, runs

BUDGET_CHARACTERS = 4_194_304
"""All views of one text together, beyond four times the text itself."""

SQUEEZED_MAX = 16_384
REVERSED_MAX = 4_096
_SEPARATORS = re.compile(r"[^A-Za-z0-9+/=]+")
_SPREAD = re.compile(r"(?s).([ \t\n.,:;|_*~/+-])(?:.\1){15,}+.?")


class TooDeep(Exception):  # noqa: N818 - reads as the fact it states
    """The text unfolds into more than may be looked through; it is treated as if it held a secret."""


def views(text: str) -> Iterator[str | bytes]:
    """`text`, then what it decodes to until nothing new comes. Raises `TooDeep`.

    Bytes are dead ends: they are looked through, and not decoded again.
    """
    budget = BUDGET_CHARACTERS + 4 * len(text)
    seen: set[str] = set()
    waiting = [text]
    squeezed = _SEPARATORS.sub("", text) if len(text) <= SQUEEZED_MAX else ""
    if 16 <= len(squeezed) < len(text):
        waiting.append(squeezed)
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        budget -= len(current)
        if budget < 0:
            raise TooDeep
        yield current
        if len(current) <= REVERSED_MAX:
            waiting.append(current[::-1])
        waiting.append(_SPREAD.sub(lambda found: found[0][::2], current))
        waiting += (each for each in (escapes.unescaped(current), escapes.quoted_printable(current)) if each not in seen)
        for content in runs.decoded(current):
            for opened in (content, *runs.inflated(content)):
                if opened is not content or runs.readable(opened):
                    waiting.append(runs.text_of(opened))
                else:
                    budget -= len(opened) // 8
                    yield opened
