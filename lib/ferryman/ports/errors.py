"""Errors of ports: unavailable now, rejected for good, stopped by a kill switch."""

from __future__ import annotations


class UnavailableError(Exception):
    """The other side could not answer now; trying again later is right.

    `after_s` is its own hint, in seconds; `lost` tells that it may have executed the request, and its answer was lost;
    `attempts` counts how often it was asked.
    """

    attempts = 1

    def __init__(self, message: str, *, after_s: float | None = None, lost: bool = False) -> None:
        super().__init__(message)
        self.after_s = after_s
        self.lost = lost


class UnreachedError(UnavailableError):
    """No connection to the other side came about: nothing of the request was sent."""


class NotSentError(UnavailableError):
    """A requirement of the call failed before any byte of it was sent: the call may be made again."""


class DisabledKeyError(UnavailableError):
    """The version of a key is disabled: a rotation retired it, and may enable it again."""


class HaltedError(Exception):
    """A kill switch is on, or was since the execution was created; the text says whose.

    `lost` tells that work was broken off which may have had an effect all the same.
    """

    def __init__(self, message: str, *, lost: bool = True) -> None:
        super().__init__(message)
        self.lost = lost


class TaskDisabledError(HaltedError):
    """The execution's task was disabled or deleted."""


class CancelRequestedError(HaltedError):
    """The execution is to be cancelled: a person asked for it."""


class RejectedError(Exception):
    """The other side rejects this, however often it is requested; the text may be shown to the owner.

    `lost` tells that it did an unknown part of it all the same.
    """

    def __init__(self, message: str, *, lost: bool = False) -> None:
        super().__init__(message)
        self.lost = lost


class NotAdmittedError(Exception):
    """The document of this name was written by an application: it asks for a run, and is no execution yet."""
