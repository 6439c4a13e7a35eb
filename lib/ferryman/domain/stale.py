"""Fencing: the error for a write or a call under a lease that has ended."""


class StaleError(Exception):
    """The lease has passed to another holder, or has expired: this write or call is not accepted."""
