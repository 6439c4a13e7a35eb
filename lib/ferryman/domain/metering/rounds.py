"""Rounds: a workspace's events are rolled up in one round at a time, some seconds after the first of them was stored."""

from __future__ import annotations

from datetime import datetime, timedelta

ROUND_S = 5
"""A round begins every so many seconds, where there is something to roll up."""
SLACK = timedelta(seconds=1)
"""How much later than its seconds are over a round begins: clocks differ."""
SPACING = timedelta(seconds=1)
"""The time between two writes of one document: Firestore takes about one a second."""


def find_round(now: datetime) -> tuple[int, timedelta]:
    """Return the number of the round that takes what is stored `now`, and in what time it begins."""
    number, seconds = divmod(now.timestamp(), ROUND_S)
    return int(number), timedelta(seconds=ROUND_S - seconds) + SLACK
