"""The token bucket that spreads a queue's dispatches over time."""

import math
from datetime import datetime, timedelta

MICROSECONDS_A_SECOND = 1_000_000


class Bucket:
    """Holds `burst` tokens at most, gains `rate` a second, and starts full."""

    def __init__(self, rate: float, burst: int, now: datetime) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._at = now

    def take(self, now: datetime) -> bool:
        """Take a token, if there is a whole one."""
        gained = (now - self._at).total_seconds() * self._rate
        self._tokens = min(float(self._burst), self._tokens + max(0.0, gained))
        self._at = now
        # A sum of small gains may miss the whole token it stands for by a rounding error.
        if self._tokens < 1 - 1e-6:
            return False
        self._tokens -= 1
        return True

    def ready(self) -> datetime:
        """Return the time at which there is a whole token, as of the last `take`."""
        missing = max(0.0, 1 - self._tokens) / self._rate
        # The next microsecond, but not one later for a rounding error.
        return self._at + timedelta(microseconds=math.ceil(missing * MICROSECONDS_A_SECOND - 1e-3))
