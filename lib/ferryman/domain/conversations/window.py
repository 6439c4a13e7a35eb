"""What of a text that the model is still writing may be shown, after it was scanned: its end is held back.

A spelling of a credential is known for one once most of it is there. So the last characters are held back until more have
followed: as many as `SPELLING_FACTOR` times the longest credential has. A contiguous spelling up to that length is whole, and
was found, before any character of it would be shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

SPELLING_FACTOR = 4
"""How many characters a spelling takes for each character of a credential, at most: spaced, in hex, in escapes."""

WINDOW_CHARACTERS_MAX = 16_384
"""Characters that are scanned at once. Where more are undecided, the rest of the turn is shown once it is committed."""


@dataclass(frozen=True, slots=True)
class WindowPart:
    """The decided beginning of one text: `text` is shown in the place of its first `decided` characters."""

    text: str = field(repr=False)
    decided: int


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
