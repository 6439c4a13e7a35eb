"""Why a server cannot be connected. The text is ours, and repeats of strangers' texts at most names that passed a grammar."""

from __future__ import annotations


class AuthorizationFailedError(Exception):
    """A server's authorization cannot be used; its text may be read by the owner."""
