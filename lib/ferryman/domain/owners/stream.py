"""Streams: which streams of events an owner has open, each for as long as it says that it is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

HOLD = timedelta(seconds=60)
"""How long a stream counts without saying that it is still open: that of an instance that died is gone after this."""

RENEWAL = timedelta(seconds=20)
"""After which time it says so, with its next frame; there is one at least every 15 seconds."""


def hold_stream(
    held: Mapping[str, datetime], stream: str, *, now: datetime, until: datetime, most: int
) -> Mapping[str, datetime] | None:
    """The streams that are open with `stream` among them `until` then; None where `most` others are.

    `held` says of each until when it counts; what is past is left out.
    """
    others = {name: end for name, end in held.items() if end > now and name != stream}
    return None if len(others) >= most else {**others, stream: until}
