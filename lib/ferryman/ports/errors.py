"""Errors that ports raise: what is not there now, what is refused for good, what a kill switch stopped."""

from __future__ import annotations


class UnavailableError(Exception):
    """The other side could not answer now; trying again later is right.

    `after_s` is its own hint, in seconds; `lost` tells that it may have done what it was asked, without our hearing of it.
    """

    def __init__(self, message: str, *, after_s: float | None = None, lost: bool = False) -> None:
        super().__init__(message)
        self.after_s = after_s
        self.lost = lost


class DisabledKeyError(UnavailableError):
    """The version of a key is disabled: a rotation retired it, and may enable it again."""


class HaltedError(Exception):
    """A kill switch is on, or was since the execution was created; the text says whose."""


class TaskDisabledError(HaltedError):
    """The execution's task was disabled or deleted."""


class RejectedError(Exception):
    """The other side will not do this, however often it is asked; its text may be shown to the owner.

    `lost` tells that it did something all the same, and that nobody knows how much.
    """

    def __init__(self, message: str, *, lost: bool = False) -> None:
        super().__init__(message)
        self.lost = lost
