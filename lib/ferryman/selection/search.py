"""The search: exact names first, then the ranked candidates; nothing where no tool fits well enough."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nlargest

from ferryman.selection.index import ToolIndex
from ferryman.selection.query import ToolQuery, find_identifiers, normalize_name, parse_query
from ferryman.selection.ranking import Candidates, is_fitting, rank

CANDIDATES = 60
POSTINGS_MAX = 30_000
"""The postings that one query reads, the rarest words' first: what bounds its time in a large index."""


def search(index: ToolIndex, text: str, limit: int, *, fitting: bool = True) -> list[int]:
    """Return the numbers of at most `limit` tools that `text` asks for, the best first; where not `fitting`, also those that do
    not fit.

    A text that is the name of a tool finds the tools of that name alone, and names of several words inside a text are taken out
    before the rest is ranked: no other tool's description can compete for a name.
    """
    exact, rest = _take_names(index, text)
    candidates = find_candidates(index, parse_query(rest), exclude=exact)
    ranked = sorted(zip(candidates.numbers, candidates.describe(), strict=True), key=lambda pair: (-rank(pair[1]), pair[0]))
    return [*exact, *(number for number, features in ranked if not fitting or is_fitting(features))][:limit]


def find_candidates(index: ToolIndex, query: ToolQuery, *, exclude: Mapping[int, None]) -> Candidates:
    """Return the tools with the highest BM25F scores."""
    weights = {**query.synonyms, **query.terms}
    terms = {index.numbers[stem]: weight for stem, weight in weights.items() if stem in index.numbers}
    scores: dict[int, float] = {}
    remaining = POSTINGS_MAX
    for term in sorted(terms, key=lambda term: -index.rarity[term] * terms[term]):
        tools, counts = index.postings[term]
        remaining -= len(tools)
        if remaining < 0 and scores:
            break
        factor = index.rarity[term] * terms[term]
        for number, count in zip(tools, counts, strict=True):
            scores[number] = scores.get(number, 0.0) + count * factor
    for number in exclude:
        scores.pop(number, None)
    best = nlargest(CANDIDATES, scores.items(), key=lambda pair: (pair[1], -pair[0]))
    return Candidates(index, query, terms, [number for number, _ in best])


def _take_names(index: ToolIndex, text: str) -> tuple[dict[int, None], str]:
    """Return the tools whose names `text` has, and what is left of it to be ranked."""
    whole = text.strip()
    if numbers := index.by_name.get(normalize_name(whole), ()):
        # spelled exactly alike first: two names may differ in their capitals alone
        return dict.fromkeys(sorted(numbers, key=lambda number: index.tools[number].name != whole)), ""
    exact: dict[int, None] = {}
    for word in dict.fromkeys(find_identifiers(text)):
        for number in index.by_name.get(normalize_name(word), ()):
            tool = index.tools[number]
            if tool.name == word and len(tool.name_terms) > 1:
                exact[number] = None
                text = text.replace(word, " ")
    return exact, text
