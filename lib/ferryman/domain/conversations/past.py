"""Past messages: what is known of one that has a word of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

CANDIDATES_MAX = 200
"""How many messages with any of the words are ranked: the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageHit:
    """A message that has a word of a query: how often it says each of its words, and how many it has in all."""

    conversation: str
    number: int
    at: datetime
    counts: Mapping[str, int]
    total: int
