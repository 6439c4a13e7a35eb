"""Limits on the number of tasks, schedules and credentials, checked in the transaction that stores one more."""

from __future__ import annotations


class LimitReachedError(Exception):
    """The limit is reached; the text names it. Nothing was stored."""


def check_limit(count: int, most: int, *, of: str, owner: str = "an owner") -> None:
    """Raise `LimitReachedError` where `owner` has `count` things of a kind (`of`) and would have one more than `most`."""
    if count >= most:
        raise LimitReachedError(f"{owner} may have at most {most} {of}")
