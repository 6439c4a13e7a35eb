"""Words: split names and texts, drop words that say nothing, and cut endings: `getWeatherForecasts` meets "forecast"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\dA-Za-z_]+")
"""A word inside a name or a text: a capital begins one (camelCase), and anything but a letter ends one; digits are dropped."""

_STOP_WORDS = """
a an the of to in on at for and or is are was were be been i me my we our you your it its this that these those with from by
as if than can could would should will please do does did have has had what which who how there here about into so not no
also any some all per via using used want need help tell let am im id looking out like planning plan interested know
wondering wonder hey hi hello thanks thank ok okay sure maybe just really nice good great something someone second third
finally another other different lastly additionally afterwards after before imagine consider considering question trying try
going assist much many based given e g s t re ll ve don didn doesn isn
"""
_STOP = frozenset(_STOP_WORDS.split())

_LONG_ENDINGS = (
    *(("ization", "ize"), ("isation", "ize"), ("ational", "ate"), ("fulness", "ful"), ("ousness", "ous"), ("iveness", "ive")),
    *(("ingly", ""), ("edly", ""), ("ies", "y"), ("sses", "ss")),
)
_VERB_ENDINGS = ("ing", "ed")
_NOUN_ENDINGS = ("ation", "ition", "ator", "ate", "ment", "ion", "er", "or", "ly", "al", "ive", "ance", "ence", "ity")
_VOWEL = re.compile("[aeiouy]")
_STEM_MIN = 3
_NO_PLURALS = frozenset(("news", "gas", "canvas", "atlas", "alias", "bias"))


def split_words(text: str) -> Iterator[tuple[int, str]]:
    """Yield each word that says something, as its place in `text` and its stem; single letters of ASCII say nothing."""
    for match in _WORD.finditer(text):
        if stem := _stem_word(match.group()):
            yield match.start(), stem


def list_stems(text: str) -> list[str]:
    """Return the stems of the words of `text` that say something, in its order."""
    return [stem for word in _WORD.findall(text) if (stem := _stem_word(word))]


@lru_cache(maxsize=20_000)
def _stem_word(word: str) -> str:
    """Return the stem of `word`, or "" where it says nothing."""
    word = word.lower()
    if word in _STOP or (len(word) == 1 and word.isascii()):
        return ""
    return cut_endings(word) if word.isascii() else word


def cut_endings(word: str) -> str:
    """Return a lower-case English word without its common endings: a light stemmer, which need not return a word."""
    if len(word) <= _STEM_MIN:
        return word
    word = _cut_plural(word)
    for ending in _VERB_ENDINGS:
        start = word[: -len(ending)]
        if word.endswith(ending) and len(start) >= _STEM_MIN and _VOWEL.search(start):
            word = start[:-1] if start[-1] == start[-2] and start[-1] not in "lsz" else start
            word += "e" if word.endswith("at") else ""  # calculating, calculate
            break
    for ending in _NOUN_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > _STEM_MIN:
            word = word[: -len(ending)]
            break
    if len(word) > _STEM_MIN:
        word = word.removesuffix("e")
    if len(word) > _STEM_MIN and word.endswith("y"):
        word = word[:-1] + "i"
    return word


def _cut_plural(word: str) -> str:
    for ending, shorter in _LONG_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            return word[: -len(ending)] + shorter
    is_plural = word.endswith("s") and not word.endswith(("ss", "us", "is")) and word not in _NO_PLURALS
    return word[:-1] if is_plural else word
