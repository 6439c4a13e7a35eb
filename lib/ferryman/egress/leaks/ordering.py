"""Ordering: the names and words by which people number parts, to read them in that order."""

from __future__ import annotations

import re

UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
ORDER = {word: value for value, word in enumerate(UNITS)} | {word: value for value, word in enumerate(_ORDINALS, start=1)}
"""The number of a word in the name of a part."""

NAME_MAX = 256
_PART = re.compile(r"[a-z]+|[0-9]{1,9}")


def build_sort_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key to sort names of fields by, as people number them: part2 before part10, second after first."""
    return tuple(
        (0, int(part), "") if part.isdigit() else (0, ORDER[part], "") if part in ORDER else (1, 0, part)
        for part in _PART.findall(name[:NAME_MAX].lower())
    )
