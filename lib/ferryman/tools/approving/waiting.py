"""Waiting: the errors by which a call leaves its function before it has a result, with what is asked, or what goes on of it."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.approvals.approval import Approval
from ferryman.domain.calls.continuation import Continuation
from ferryman.ports.errors import NotSentError


class WaitingForPersonError(NotSentError):
    """A person has to decide about `approval` before the call is sent. Nothing of it was, or its host asks before it goes on:
    then `continuation` is what goes on of it."""

    def __init__(self, approval: Approval, continuation: Continuation | None = None) -> None:
        super().__init__("a person has to decide about the call first")
        self.approval = approval
        self.continuation = continuation


class CallGoesOnError(Exception):
    """The call was sent, and its host works on it: `continuation` is what goes on of it, and it is asked again at `until`."""

    def __init__(self, continuation: Continuation, *, until: datetime) -> None:
        super().__init__("the host of the call works on it")
        self.continuation = continuation
        self.until = until
