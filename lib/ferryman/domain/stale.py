"""Stale: what a holder is told whose time is over."""


class Stale(Exception):  # noqa: N818 - reads as the fact it states
    """The lease has passed to another holder, or has expired: this write or call is not accepted."""
