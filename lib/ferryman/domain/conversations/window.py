"""What of a text that the model is still writing may be shown, after it was scanned: its end is held back.

A spelling of a credential is known for one once most of it is there. So the end is held back until more has followed:
`SPELLING_FACTOR` times as much as the longest credential has characters. An escape or a number counts as that many at most,
however long it is, and what separates words as one: so a spelling that takes ten characters for each of the credential is
whole, too, and was found, before any character of it would be shown, and a text of words waits no longer for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

SPELLING_FACTOR = 4
"""How much a spelling counts for each character of a credential, at most: spaced, in hex, in escapes, as numbers."""

_SEPARATOR = r"(?:[^\w&\\%]|_)"
_TOKEN = re.compile(
    r"&[0-9A-Za-z#;]*|\\+[A-Za-z]?\{?[0-9A-Fa-f]*\}?|%[0-9A-Fa-fuU]*"
    rf"|(?:0[xX][0-9A-Fa-f]{{1,8}}|[Uu]\+[0-9A-Fa-f]{{4,6}}|[01]{{7,8}}|[0-9]{{1,3}}){_SEPARATOR}*"
    rf"|(?P<separators>{_SEPARATOR}+)"
)
"""What may be one character in a longer spelling, or between two: too long a match has more held back, and never less."""

WINDOW_CHARACTERS_MAX = 16_384
"""Characters that are scanned at once. Where more are undecided, the rest of the turn is shown once it is committed."""


@dataclass(frozen=True, slots=True)
class WindowPart:
    """The decided beginning of one text: `text` is shown in the place of its first `decided` characters."""

    text: str = field(repr=False)
    decided: int


def measure_end(texts: Sequence[str], longest: int) -> int:
    """Return how many of the last characters of all `texts` are held back, for a longest credential of so many characters."""
    whole = "".join(texts)
    due, place = SPELLING_FACTOR * longest, len(whole)
    for token in reversed([*_TOKEN.finditer(whole)]):
        due -= place - token.end()
        if due <= 0:
            return len(whole) - token.end() + due
        due -= 1 if token["separators"] else min(SPELLING_FACTOR, token.end() - token.start())
        place = token.start()
        if due <= 0:
            return len(whole) - place
    return min(len(whole), len(whole) - place + due)


def decide(texts: Sequence[str], clean: Sequence[str], *, held_back: int) -> list[WindowPart]:
    """Return the decided beginning of each of `texts`, which follow each other; `clean` are the same ones, scanned together.

    The last `held_back` characters of all are never decided, and nothing from the first credential on that the scan cut out of
    a text, until the text goes on unchanged behind it for as long.
    """
    room = max(0, sum(map(len, texts)) - held_back)
    parts = []
    for text, scanned in zip(texts, clean, strict=True):
        parts.append(_decide_one(text, scanned, min(room, len(text))))
        room = max(0, room - len(text))
    return parts


def _decide_one(text: str, scanned: str, most: int) -> WindowPart:
    rest = text[most:]
    if most and scanned.endswith(rest):
        return WindowPart(scanned[: len(scanned) - len(rest)], most)
    same = count_shared(text[:most], scanned)
    return WindowPart(text[:same], same)


def count_shared(text: str, other: str) -> int:
    """Return how many characters two texts begin with that are the same."""
    if other.startswith(text):
        return len(text)
    pairs = enumerate(zip(text, other, strict=False))
    return next((index for index, (before, after) in pairs if before != after), min(len(text), len(other)))
