"""Later: nothing more can be done now, and nothing is held while it waits; the queue brings the next slice."""

from __future__ import annotations

from datetime import timedelta

NOW = timedelta(0)


class Later(Exception):  # noqa: N818 - reads as the fact it states
    """The execution goes on in its next slice, `after` so long; the text says why."""

    def __init__(self, reason: str, *, after: timedelta = NOW) -> None:
        super().__init__(reason)
        self.after = max(NOW, after)
