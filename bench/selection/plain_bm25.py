"""Textbook BM25 (Robertson and Zaragoza, 2009) over the definitions of functions: what `bench.selection` compares ours with."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

SATURATION, LENGTH = 1.5, 0.75


class PlainIndex:
    """One bag of words per function: its name, description, and its parameters' names and descriptions."""

    def __init__(self, functions: Sequence[Mapping[str, Any]]) -> None:
        self._names = [str(function["name"]) for function in functions]
        texts = [split(_join(function)) for function in functions]
        mean = sum(map(len, texts)) / len(texts)
        self._postings: dict[str, dict[int, float]] = defaultdict(dict)
        for number, text in enumerate(texts):
            scale = SATURATION * (1 - LENGTH + LENGTH * len(text) / mean)
            for word, count in Counter(text).items():
                self._postings[word][number] = count * (SATURATION + 1) / (count + scale)

    def search(self, text: str, limit: int) -> list[str]:
        """Return the names of the best functions."""
        scores: Counter[int] = Counter()
        for word in split(text):
            postings = self._postings.get(word, {})
            rarity = math.log(1 + (len(self._names) - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, weight in postings.items():
                scores[number] += rarity * weight
        return [self._names[number] for number, _ in scores.most_common(limit)]


def split(text: str) -> list[str]:
    """Return the words of a text, with the parts of names as words, too."""
    return re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())


def _join(function: Mapping[str, Any]) -> str:
    properties = function["parameters"].get("properties", {})
    parameters = (f"{name} {schema.get('description', '')}" for name, schema in properties.items())
    return " ".join([function["name"], function["description"], *parameters])
