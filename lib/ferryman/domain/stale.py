"""Stale: what a holder is told whose time is over."""


class StaleError(Exception):
    """The lease has passed to another holder, or has expired: this write or call is not accepted."""
