"""Search of past messages: which words a message is found by, and the ranking of those found (BM25).

A message is indexed in the commit that stores it. The words are of what a person or the agent wrote, not of calls and results.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ferryman.domain.conversations.message import Message
from ferryman.domain.conversations.past import MessageHit
from ferryman.selection.words import list_stems

WORDS_MAX = 300
"""The words that a message is found by: of more, those that it says most often."""

QUERY_WORDS_MAX = 10
"""The words of a query that count."""

INDEXED_CHARACTERS_MAX = 40_000
WORD_CHARACTERS_MAX = 40

WORKSPACE, WORDS, COUNTS, TOTAL = "workspace", "words", "word_counts", "words_total"
"""The fields of a message's document that it is found by: its workspace, its words, how often it says each, and all of them."""

_NUMBER = re.compile(r"[0-9]{2,}", re.ASCII)
_SATURATION, _LENGTH_SHARE = 1.2, 0.75
"""The usual constants of BM25: k1 and b."""


def list_words(text: str) -> list[str]:
    """Return what a text is found by, in its order: the stems of its words, and its numbers of two digits or more."""
    words = [*list_stems(text), *_NUMBER.findall(text)]
    return [word[:WORD_CHARACTERS_MAX] for word in words]


def list_query_words(query: str) -> tuple[str, ...]:
    """Return the words of a query, each once, and at most `QUERY_WORDS_MAX`."""
    return tuple(dict.fromkeys(list_words(query)))[:QUERY_WORDS_MAX]


def index_message(message: Message, *, workspace: str) -> dict[str, Any]:
    """Return the fields that the message's document is found by; none where it says nothing."""
    words = list_words(message.content[:INDEXED_CHARACTERS_MAX])
    if not words:
        return {}
    counts = Counter(words).most_common(WORDS_MAX)
    return {
        WORKSPACE: workspace,
        WORDS: [word for word, _ in counts],
        COUNTS: [count for _, count in counts],
        TOTAL: len(words),
    }


def read_hit(conversation: str, number: int, at: datetime, fields: Mapping[str, Any]) -> MessageHit:
    """Return the hit in the fields of a document, as `index_message` writes them."""
    counts = dict(zip(fields[WORDS], map(int, fields[COUNTS]), strict=True))
    return MessageHit(conversation=conversation, number=number, at=at, counts=counts, total=int(fields[TOTAL]))


def rank_hits(words: Sequence[str], hits: Iterable[MessageHit]) -> list[MessageHit]:
    """Return the hits, the best first (BM25 over these hits alone); of equally good ones the newest first."""
    known = list(hits)
    mean = sum(hit.total for hit in known) / len(known) if known else 1.0
    rarity = {word: _compute_rarity(sum(word in hit.counts for hit in known), len(known)) for word in words}

    def score(hit: MessageHit) -> float:
        norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * hit.total / mean)
        counts = ((rarity[word], hit.counts.get(word, 0)) for word in words)
        return sum(weight * count * (_SATURATION + 1) / (count + norm) for weight, count in counts)

    return sorted(known, key=lambda hit: (-score(hit), -hit.at.timestamp(), hit.conversation, hit.number))


def _compute_rarity(having: int, all_of_them: int) -> float:
    return math.log(1 + (all_of_them - having + 0.5) / (having + 0.5))
