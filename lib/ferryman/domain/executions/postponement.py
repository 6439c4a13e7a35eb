"""A postponement: the rest of an execution is left to its next slice, which the queue delivers; nothing is held meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Postponement:
    """Why an execution goes on in its next slice, and how long after now; less than zero means at once.

    With `waiting_for`, the id of an approval, it is parked until a person has decided about that.
    """

    reason: str
    after: timedelta = timedelta(0)
    waiting_for: str = ""
