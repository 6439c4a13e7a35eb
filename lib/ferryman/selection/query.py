"""A query: the words of a text with their weights, in the parts and sentences that they stand in, and the names that it has."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ferryman.selection.evidence import Evidence, find_in_text
from ferryman.selection.languages import translate_words
from ferryman.selection.synonyms import SYNONYMS
from ferryman.selection.words import list_stems, split_words

CHARACTERS_MAX = 8_000
"""How much of a text is read."""
PARTS_MAX = 12
"""The parts, and the sentences, that are looked at one by one; the rest counts in the whole."""
PART_WORDS_MIN = 2
TERMS_MAX = 48
"""Different words of a query; the first ones count."""

PROPER_WEIGHT, QUOTED_WEIGHT, SYNONYM_WEIGHT = 0.8, 0.5, 0.3
"""What a proper noun, a quoted word and a synonym count beside a word of the text: they are values more often than tools."""

_QUOTED = re.compile(r"(?<!\w)'[^'\n]{2,80}'(?!\w)|\"[^\"\n]{2,80}\"|“[^”\n]{2,80}”")
_QUOTED_SHARE_MAX = 0.6
"""A longer quotation is the request itself."""
_PART_END = re.compile(r"[.!?;,]\s+|\n+|\s(?:and|then|also)\s")
_SENTENCE_END = re.compile(r"[.!?;]\s+|\n+")
_IDENTIFIER = re.compile(r"\w{1,200}(?:[.\-]\w{1,200}){0,8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolQuery:
    """A text as the ranking reads it.

    `terms` has the weight of each stem, `synonyms` that of stems that only stand for one; `parts` and `sentences` are sets of
    stems, empty where there is only one.
    """

    terms: Mapping[str, float]
    synonyms: Mapping[str, float]
    parts: Sequence[frozenset[str]]
    sentences: Sequence[frozenset[str]]
    evidence: Evidence


def parse_query(text: str) -> ToolQuery:
    """Return the query of `text`, of which the first `CHARACTERS_MAX` characters count."""
    text = text[:CHARACTERS_MAX]
    words = _weigh_words(text)
    words += [(len(text), stem, 1.0) for stem in list_stems(translate_words(text))]
    counts: dict[str, float] = {}
    best: dict[str, float] = {}
    for _, stem, weight in words:
        if stem in best or len(best) < TERMS_MAX:
            counts[stem] = counts.get(stem, 0.0) + weight
            best[stem] = max(best.get(stem, 0.0), weight)
    # a repeated word counts up to twice (BM25's saturation of the query's words)
    terms = {stem: weight * 2 * counts[stem] / (counts[stem] + 1) for stem, weight in best.items()}
    synonyms: dict[str, float] = {}
    for stem, weight in terms.items():
        for other in SYNONYMS.get(stem, ()):
            if other not in terms:
                synonyms[other] = max(synonyms.get(other, 0.0), weight * SYNONYM_WEIGHT)
    return ToolQuery(
        terms=terms,
        synonyms=synonyms,
        parts=_split_parts(text, words, _PART_END),
        sentences=_split_parts(text, words, _SENTENCE_END),
        evidence=find_in_text(text),
    )


def find_identifiers(text: str) -> Iterator[str]:
    """Yield the words of `text` that may be names of tools, with dots and hyphens inside, in its order."""
    for match in _IDENTIFIER.finditer(text[:CHARACTERS_MAX]):
        yield match.group()


def normalize_name(text: str) -> str:
    """Return a name without case and separators, the same for `get_weather`, `getWeather` and "Get weather"."""
    return re.sub(r"[\W_]+", "", text[:CHARACTERS_MAX]).casefold()


def _weigh_words(text: str) -> list[tuple[int, str, float]]:
    """Return each word's place, stem and weight."""
    quoted = [match.span() for match in _QUOTED.finditer(text) if len(match.group()) < len(text) * _QUOTED_SHARE_MAX]
    starts = [start for start, _ in quoted]
    words = []
    for place, stem in split_words(text):
        index = bisect_right(starts, place) - 1
        weight = PROPER_WEIGHT if _is_proper(text, place) else 1.0
        if index >= 0 and place < quoted[index][1]:
            weight = QUOTED_WEIGHT
        words.append((place, stem, weight))
    return words


def _is_proper(text: str, place: int) -> bool:
    """Tell whether the word at `place` is capitalized in the middle of a sentence."""
    if not text[place].isupper() or not text[place + 1 : place + 2].islower():
        return False
    return place >= 2 and text[place - 1] == " " and text[place - 2] not in ".!?:;\"'\n"


def _split_parts(text: str, words: Sequence[tuple[int, str, float]], end: re.Pattern[str]) -> tuple[frozenset[str], ...]:
    ends = [match.start() for match in end.finditer(text)]
    parts: list[set[str]] = [set() for _ in range(len(ends) + 1)]
    for place, stem, _ in words:
        parts[bisect_right(ends, place)].add(stem)
    telling = [frozenset(part) for part in parts if len(part) >= PART_WORDS_MIN]
    return tuple(telling[:PARTS_MAX]) if len(telling) > 1 else ()
