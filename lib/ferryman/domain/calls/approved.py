"""Who approved a call that was sent, as its ticket, its record and its receipt have it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovedSend:
    """The approval under which a call was sent: its id, the hash of the form that was approved, by whom and when.

    `is_standing` tells that it was approved beforehand (`domain.approvals.standing`); `digest` is of what was sent all the
    same. `sends_max` is for how many sends it was: the receipts of the calls that were sent count them. `declassified` is the
    value that the person declassified with it, "" for none.
    """

    approval: str
    digest: str
    by: str
    at: datetime
    is_standing: bool = False
    sends_max: int = 1
    declassified: str = field(default="", repr=False)
