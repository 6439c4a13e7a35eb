"""The notice of a call that waits: what became of the one message that its workspace is sent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ferryman.domain.delivery import AlertState

PREFIX = "appr_"
"""How the ids of approvals begin: the queue of alerts delivers their notices, too."""

DECIDED = "it was decided about before its receiver took it"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalNotice:
    """What became of the notice; its fields are those of an alert that say it."""

    state: AlertState = AlertState.PENDING
    attempts: int = 0
    status: int | None = None
    reason: str = ""
    settled_at: datetime | None = None


def is_settled(stored: ApprovalNotice, attempt: ApprovalNotice) -> bool:
    """Tell whether `stored` stays as it is: it is settled, or another delivery of this `attempt` was sooner."""
    return stored.state is not AlertState.PENDING or stored.attempts >= attempt.attempts
