"""Retry with exponential backoff: when a failed task is tried again, and when it is given up."""

from datetime import datetime, timedelta
from typing import Any

RETENTION = timedelta(days=31)
"""However often it may be tried, no task lives longer."""


def back_off(config: Any, failures: int) -> timedelta:
    """Return how long to wait after so many failures (1 or more) under a RetryConfig whose fields are all set.

    It starts at min_backoff, doubles max_doublings times, grows by that last step from then on, and stays at
    max_backoff: 10, 300 and 3 give 10 s, 20, 40, 80, 160, 240, 300, 300 …
    """
    least = config.min_backoff.ToMicroseconds()
    most = min(config.max_backoff.ToMicroseconds(), RETENTION // timedelta(microseconds=1))
    doublings = min(failures - 1, config.max_doublings)
    # A step past 2^50 is beyond every max_backoff, and a number of any size would be slow to make.
    step = least << min(doublings, 50)
    return timedelta(microseconds=min(most, step * (failures - doublings)))


def is_over(config: Any, *, failures: int, first: datetime, created: datetime, now: datetime) -> bool:
    """Return whether a task made and first tried at these times has had all of its attempts.

    Both limits must be reached where both are set; -1 attempts and a duration of 0 set none.
    """
    if now - created >= RETENTION:
        return True
    limits = []
    if config.max_attempts != -1:
        limits.append(failures >= config.max_attempts)
    if duration := config.max_retry_duration.ToMicroseconds():
        limits.append(now - first >= timedelta(microseconds=duration))
    return bool(limits) and all(limits)
