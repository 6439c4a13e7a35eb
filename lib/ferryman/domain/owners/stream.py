"""Streams: which streams of events an owner has open; each renews its lease while it is open."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

HOLD = timedelta(seconds=60)  # how long a stream counts as open without a renewal, as after its instance died
RENEWAL = timedelta(seconds=20)
"""After which time it is renewed, with its next frame; there is one at least every 15 seconds."""


def hold_stream(
    streams: Mapping[str, datetime], stream: str, *, now: datetime, until: datetime, most: int
) -> Mapping[str, datetime] | None:
    """Return `streams`, name to expiry, with `stream` open `until` then; None where `most` others are open."""
    others = {name: end for name, end in streams.items() if end > now and name != stream}
    return None if len(others) >= most else {**others, stream: until}
