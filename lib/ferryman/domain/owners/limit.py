"""Limits on the number of tasks, schedules and credentials, checked in the transaction that stores one more."""

from __future__ import annotations


class LimitReachedError(Exception):
    """The limit is reached; the text names it. Nothing was stored."""


def check_tasks(count: int, most: int) -> None:
    """Raise `LimitReachedError` where an owner has `count` tasks and is about to store one more than `most`."""
    if count >= most:
        raise LimitReachedError(f"an owner may have at most {most} tasks")


def check_scheduled(count: int, most: int) -> None:
    """Raise `LimitReachedError` where an owner has `count` scheduled tasks and is about to have one more than `most`."""
    if count >= most:
        raise LimitReachedError(f"an owner may have at most {most} scheduled tasks")


def check_credentials(count: int, most: int) -> None:
    """Raise `LimitReachedError` where a task has `count` credentials and is about to have one more than `most`."""
    if count >= most:
        raise LimitReachedError(f"a task may have at most {most} credentials")
