"""Exits: what the exit codes mean, and which status leads to which."""

from __future__ import annotations

DONE = 0
FAILED = 1
USAGE = 2
NOT_COMPLETED = 3
KILLED = 4
REFUSED = 5
INTERRUPTED = 130

_BY_STATUS = {"completed": DONE, "killed": KILLED}


def choose_for_execution(status: str) -> int:
    """Return the exit code of a finished execution."""
    return _BY_STATUS.get(status, NOT_COMPLETED)


def choose_for_refusal(status: int) -> int:
    """Return the exit code of an HTTP status that is an error."""
    return REFUSED if 400 <= status < 500 else FAILED
