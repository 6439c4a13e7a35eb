"""Waiting for a person: the error by which a call that nobody has approved leaves the gate, with what is asked."""

from __future__ import annotations

from ferryman.domain.approvals.approval import Approval
from ferryman.ports.errors import NotSentError


class WaitingForPersonError(NotSentError):
    """A person has to decide about `approval` before the call is sent. Nothing of it was."""

    def __init__(self, approval: Approval) -> None:
        super().__init__("a person has to decide about the call first")
        self.approval = approval
