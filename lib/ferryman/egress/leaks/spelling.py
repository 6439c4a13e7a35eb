"""Spelling: letters and digits written as words, by the radio alphabet and as numbers."""

from __future__ import annotations

from collections.abc import Iterator

from ahocorasick_rs import BytesAhoCorasick

from ferryman.egress.leaks.ordering import UNITS

DIFFERENT_MIN = 3  # the different words that a long text must have: one and two are in every text
_LETTERS = (
    *("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "kilo", "lima", "mike"),
    *("november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor", "whiskey", "xray", "yankee"),
    "zulu",
)
_TEENS = (*("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_CHARACTERS = (
    {word: word[0] for word in _LETTERS}
    | {"alfa": "a", "juliett": "j", "whisky": "w"}
    | {word: str(value) for value, word in enumerate(UNITS)}
    | {"oh": "0", "niner": "9", "fower": "4", "fife": "5"}
)
_NUMBERS = (
    {word: value for value, word in enumerate(UNITS)}
    | {word: value for value, word in enumerate(_TEENS, start=10)}
    | {word: 10 * value for value, word in enumerate(_TENS, start=2)}
)
_WORDS = {*_CHARACTERS, *_NUMBERS, "hundred"}
_FINDER = BytesAhoCorasick([word.encode() for word in sorted(_WORDS)])
_SPACED = bytes(code if bytes((code,)).isalnum() else 0x20 for code in range(256))
_SILENT = frozenset(
    (
        *("capital", "upper", "uppercase", "lower", "lowercase", "small", "big", "letter", "digit", "number", "dash", "hyphen"),
        *("minus", "underscore", "dot", "point", "period", "slash", "comma", "space", "then", "and", "ray", "followed", "by"),
    )
)
"""Words between letters that mean none of them, or a separator."""


def read_spelled(plain: bytes, *, least: int) -> Iterator[tuple[bytes, bool]]:
    """Yield the characters that the words of `plain` spell, with its other words and alone, and its numbers.

    Each with whether it may be decoded further. Nothing is yielded for fewer than `least` different words that spell something.
    """
    small = plain.lower()
    if len({index for index, _, _ in _FINDER.find_matches_as_indexes(small)}) < least:
        return
    words = small.translate(_SPACED).decode("ascii").split()
    if len(_WORDS.intersection(words)) < least:
        return
    yield "".join([_CHARACTERS.get(word, "" if word in _SILENT else word) for word in words]).encode(), False
    yield "".join([_CHARACTERS.get(word, word if len(word) == 1 or word.isdigit() else "") for word in words]).encode(), False
    yield "".join(_read_numbers(words, 999)).encode(), True
    yield " ".join(_read_numbers(words, 999)).encode(), True
    yield " ".join(_read_numbers(words, 127)).encode(), True  # codes of characters: "one hundred fifty" is d2


def _read_numbers(words: list[str], most: int) -> list[str]:
    """Return the numbers among `words` in digits, up to `most`; a number ends where the next word cannot continue it."""
    numbers: list[int] = []
    room = 0  # the limit of what may be added to the last number: 100 after hundreds, 10 after tens
    for word, after in zip(words, [*words[1:], ""], strict=True):
        value = _NUMBERS.get(word)
        if word == "hundred" and numbers and 0 < numbers[-1] < len(UNITS):
            numbers[-1] *= 100
            room = 100
        elif value is None:
            room = room if word == "and" else 0
        else:
            if 0 < value < room and numbers[-1] + value <= most and after != "hundred":
                numbers[-1] += value
            else:
                numbers.append(value)
            room = 10 if value >= 2 * len(UNITS) else 0
    return [*map(str, numbers)]
