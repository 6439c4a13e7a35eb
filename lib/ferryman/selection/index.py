"""The index of a list of tools: postings of their words with saturating weights (BM25F), and each tool's words by field."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ferryman.selection.definition import ToolText
from ferryman.selection.evidence import Evidence, find_in_parameters
from ferryman.selection.query import normalize_name
from ferryman.selection.words import list_stems


class FieldWeight(NamedTuple):
    """What a word in a field counts, and how much a long field counts less (`length`, 0 to 1: the `b` of BM25)."""

    weight: float
    length: float


NAME = FieldWeight(3.0, 0.2)
DESCRIPTION = FieldWeight(1.5, 0.72)
PARAMETERS = FieldWeight(0.78, 0.5)
PARAMETER_TEXTS = FieldWeight(0.5, 0.57)
_FIELDS = (NAME, DESCRIPTION, PARAMETERS, PARAMETER_TEXTS)

REPEATS_MAX = 3
"""How often one word of one field counts: repeating it further changes nothing."""
SATURATION = 0.6
"""The `k1` of BM25, small: the second field that has a word adds little."""


class Postings(NamedTuple):
    """The tools that have a word, by number, in rising order, and what it counts in each (0 to 1)."""

    tools: array[int]
    weights: array[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedTool:
    """What the ranking asks of a tool: the different words of its fields, as numbers, and how rare they are together."""

    name: str
    name_terms: array[int]
    description_terms: array[int]
    parameter_terms: array[int]
    value_terms: array[int]
    text_words: int
    required: int
    evidence: Evidence


class ToolIndex:
    """The tools of a list, in its order. Building takes time and memory linear in their texts; nothing changes afterwards."""

    def __init__(self, tools: Iterable[ToolText]) -> None:
        """Index `tools`."""
        self.tools: list[IndexedTool] = []
        self.numbers: dict[str, int] = {}
        self._fields: list[tuple[Counter[int], ...]] = []
        for tool in tools:
            self._add(tool)
        self.postings: list[Postings] = [Postings(array("I"), array("f")) for _ in self.numbers]
        self._fill_postings()
        count = len(self.tools)
        self.rarity = array("f", (measure_rarity(count, len(posting.tools)) for posting in self.postings))
        """The inverse document frequency of each word, by its number."""
        self.name_rarity = array("f", (self.sum_rarity(tool.name_terms) for tool in self.tools))
        self.description_rarity = array("f", (self.sum_rarity(tool.description_terms) for tool in self.tools))
        self.parameter_rarity = array("f", (self.sum_rarity(tool.parameter_terms) for tool in self.tools))
        self.by_name: Mapping[str, Sequence[int]] = self._collect_names()

    def sum_rarity(self, terms: Iterable[int]) -> float:
        """Return the rarity of words together."""
        rarity = self.rarity
        return sum(rarity[term] for term in terms)

    def _add(self, tool: ToolText) -> None:
        texts = (f"{tool.group} {tool.name}", tool.description, tool.parameters, tool.parameter_texts)
        fields = tuple(Counter(self._number(list_stems(text))) for text in texts)
        name, description, parameters, parameter_texts = fields
        self._fields.append(fields)
        stems = frozenset(list_stems(tool.parameters))
        self.tools.append(
            IndexedTool(
                name=tool.name,
                name_terms=array("I", name),
                description_terms=array("I", description),
                parameter_terms=array("I", parameters),
                value_terms=array("I", frozenset(self._number(list_stems(tool.values)))),
                text_words=len(parameter_texts),
                required=tool.required,
                evidence=find_in_parameters(stems, numeric=tool.numeric),
            )
        )

    def _number(self, stems: Iterable[str]) -> list[int]:
        numbers = self.numbers
        return [numbers.setdefault(stem, len(numbers)) for stem in stems]

    def _fill_postings(self) -> None:
        count = max(1, len(self._fields))
        means = [max(1.0, sum(sum(fields[n].values()) for fields in self._fields) / count) for n in range(len(_FIELDS))]
        for number, fields in enumerate(self._fields):
            weights: dict[int, float] = {}
            for field, counts, mean in zip(_FIELDS, fields, means, strict=True):
                scale = field.weight / (1 - field.length + field.length * counts.total() / mean)
                for term, times in counts.items():
                    weights[term] = weights.get(term, 0.0) + scale * min(times, REPEATS_MAX)
            for term, weight in weights.items():
                posting = self.postings[term]
                posting.tools.append(number)
                posting.weights.append(weight / (weight + SATURATION))
        self._fields.clear()

    def _collect_names(self) -> dict[str, list[int]]:
        names: dict[str, list[int]] = {}
        for number, tool in enumerate(self.tools):
            names.setdefault(normalize_name(tool.name), []).append(number)
        return names


def measure_rarity(count: int, having: int) -> float:
    """Return the inverse document frequency of a word that `having` of `count` tools have (BM25's, never negative)."""
    return math.log(1 + (count - having + 0.5) / (having + 0.5))
