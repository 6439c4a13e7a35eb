"""How well a text was found: precision, recall and F1 of its words."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|\w+")
"""A word; a character of a script that puts no spaces between words."""

_TARGET = re.compile(r"\]\([^)\s]*\)")


class Score(NamedTuple):
    """Shares from 0 to 1."""

    f1: float
    precision: float
    recall: float


def score(text: str, truth: str) -> Score:
    """Compare the words of `text`, each as often as it is there, with those of `truth`."""
    words, expected = Counter(WORD.findall(text.lower())), Counter(WORD.findall(truth.lower()))
    common = (words & expected).total()
    if not common:
        empty = float(not words and not expected)
        return Score(empty, empty, empty)
    precision, recall = common / words.total(), common / expected.total()
    return Score(2 * precision * recall / (precision + recall), precision, recall)


def strip_targets(markdown: str) -> str:
    """Return Markdown without the addresses of its links."""
    return _TARGET.sub("]", markdown)
