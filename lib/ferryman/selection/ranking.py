"""The ranking of candidates: a weighted sum of what speaks for a tool and of what speaks against it."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ferryman.selection.evidence import Evidence
from ferryman.selection.index import ToolIndex
from ferryman.selection.query import ToolQuery


class Features(NamedTuple):
    """What is known of a candidate. "Covered" are shares, 0 to 1; "rarity" is inverse document frequency in tens."""

    score: float  # BM25F, as a share of the best candidate's
    part: float  # the same within the part of the query that it fits best
    sentence: float
    words_covered: float  # of the query's words
    name_covered: float  # of its name's words, by rarity
    name_words: float
    name_synonyms: float  # of its name's words, by rarity: those that the query has a synonym of
    description_covered: float
    parameters_covered: float
    value_rarity: float  # of its enumerated values' words that the query has
    text_words: float  # logarithm of how much its parameters' descriptions say
    required: float  # how many arguments it requires
    lacking: float  # how many kinds of values it asks for that the query lacks
    asks_number: float
    has_date: float


WEIGHTS = Features(
    score=4.12,
    part=0.97,
    sentence=1.69,
    words_covered=4.15,
    name_covered=1.72,
    name_words=-0.33,
    name_synonyms=1.85,
    description_covered=1.51,
    parameters_covered=0.44,
    value_rarity=0.58,
    text_words=0.2,
    required=-0.57,
    lacking=-0.56,
    asks_number=-0.77,
    has_date=1.57,
)
"""What puts the wanted tool first: fitted on the even half of the queries of BFCL v4 (`python -m bench.selection`)."""

FIT = Features(
    score=0.0,
    part=0.0,
    sentence=0.0,
    words_covered=0.29,
    name_covered=1.82,
    name_words=-0.25,
    name_synonyms=2.07,
    description_covered=4.41,
    parameters_covered=0.72,
    value_rarity=0.0,
    text_words=0.19,
    required=-0.15,
    lacking=-1.57,
    asks_number=-1.39,
    has_date=0.21,
)
FIT_MIN = -0.86
"""What tells a tool that fits from the best of tools none of which does: shares alone, so it holds for any number of tools.

The least sum is the highest, in steps of 0.1, that lost at most 2 points of recall on the even half.
"""


class Candidates:
    """The candidates of one query, and what each of the query's words counts in each of them."""

    def __init__(self, index: ToolIndex, query: ToolQuery, terms: Mapping[int, float], numbers: Sequence[int]) -> None:
        """Look up the words `terms` (weights by number, synonyms included) in the tools `numbers` of `index`."""
        self._index, self._query = index, query
        self.numbers = numbers
        weights = {index.numbers[stem]: weight for stem, weight in query.terms.items() if stem in index.numbers}
        self._words = {term: index.rarity[term] * weight for term, weight in weights.items()}
        self._synonyms = {term: index.rarity[term] for term in terms if term not in weights}
        counts = [_look_up(index, term, index.rarity[term] * weight, numbers) for term, weight in terms.items()]
        self._counts = dict(zip(terms, counts, strict=True))
        self._scores = self._add_up(terms)
        self._parts = self._rank_parts(query.parts)
        self._sentences = self._rank_parts(query.sentences)

    def describe(self) -> list[Features]:
        """Return the features of each candidate."""
        return [self._describe(position, number) for position, number in enumerate(self.numbers)]

    def _describe(self, position: int, number: int) -> Features:
        index, words, synonyms = self._index, self._words, self._synonyms
        tool = index.tools[number]
        name = [words[term] for term in tool.name_terms if term in words]
        description = [words[term] for term in tool.description_terms if term in words]
        parameters = sum(words[term] for term in tool.parameter_terms if term in words)
        having = sum(1 for term, counts in self._counts.items() if term in words and counts[position])
        requested, has = tool.evidence & ~Evidence.NUMBER, self._query.evidence
        return Features(
            score=self._scores[position],
            part=self._parts[position],
            sentence=self._sentences[position],
            words_covered=having / max(1, len(self._query.terms)),
            name_covered=sum(name) / (index.name_rarity[number] or 1.0),
            name_words=len(tool.name_terms),
            name_synonyms=sum(synonyms[term] for term in tool.name_terms if term in synonyms)
            / (index.name_rarity[number] or 1.0),
            description_covered=sum(description) / (index.description_rarity[number] or 1.0),
            parameters_covered=parameters / (index.parameter_rarity[number] or 1.0),
            value_rarity=sum(words[term] for term in tool.value_terms if term in words) / 10,
            text_words=math.log1p(tool.text_words),
            required=tool.required,
            lacking=(requested & ~has).bit_count(),
            asks_number=float(Evidence.NUMBER in tool.evidence and Evidence.NUMBER not in has),
            has_date=float(Evidence.DATE in requested & has),
        )

    def _add_up(self, terms: Mapping[int, float] | Sequence[int]) -> list[float]:
        """Return the score of each candidate by the words `terms`, as a share of the best."""
        scores = [sum(counts) for counts in zip(*(self._counts[term] for term in terms), strict=True)]
        scores = scores or [0.0] * len(self.numbers)
        best = max(scores, default=0.0) or 1.0
        return [score / best for score in scores]

    def _rank_parts(self, parts: Sequence[frozenset[str]]) -> list[float]:
        """Return each candidate's best share in one of the parts; in the whole where there are none."""
        numbers = self._index.numbers
        ranked = [
            self._add_up([term for stem in part if (term := numbers.get(stem)) in self._counts and term is not None])
            for part in parts
        ]
        return [max(shares) for shares in zip(*ranked, strict=True)] if ranked else self._scores


def rank(features: Features) -> float:
    """Return how well a candidate fits; only the order of a query's candidates has a meaning."""
    return _weigh(features, WEIGHTS)


def is_fitting(features: Features) -> bool:
    """Tell whether a candidate fits at all, whatever the others are."""
    return _weigh(features, FIT) >= FIT_MIN


def _weigh(features: Features, weights: Features) -> float:
    return sum(feature * weight for feature, weight in zip(features, weights, strict=True))


def _look_up(index: ToolIndex, term: int, factor: float, numbers: Sequence[int]) -> list[float]:
    """Return what `term` counts in each of the tools `numbers`."""
    tools, weights = index.postings[term]
    counts, last = [], len(tools)
    for number in numbers:
        place = bisect_left(tools, number)
        counts.append(weights[place] * factor if place < last and tools[place] == number else 0.0)
    return counts
