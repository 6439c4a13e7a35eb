"""The ports of approvals: where they are stored, who verifies decisions, and what a call asks before it is sent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ferryman.domain.approvals.approval import Approval, ApprovalState
from ferryman.domain.approvals.decision import SignedDecision
from ferryman.domain.approvals.notice import ApprovalNotice
from ferryman.domain.approvals.standing import StandingApproval
from ferryman.domain.page import Page, Position

EXECUTION_ENDED = "the execution has ended, or was cancelled: nothing of it is sent any longer"


class Approvals(Protocol):
    """Approvals as they are stored. A call's own approval is stored by `Tickets.ask`, in one commit with its ticket."""

    async def get(self, approval: str) -> Approval | None:
        """Return the approval, or None where there is none that can be read."""

    async def list(
        self,
        workspace: str,
        *,
        state: ApprovalState | None = None,
        execution: str | None = None,
        after: Position | None = None,
        most: int = 50,
    ) -> Page[Approval]:
        """Return at most `most` approvals of `workspace`, the newest first, from behind `after`, each without its form: "".

        What cannot be read is left out: a page may hold fewer than `most` and not be the last.
        """

    async def list_of(self, execution: str) -> Sequence[Approval]:
        """Return all approvals of an execution, in the order of their calls, without their forms likewise."""

    async def find_last(self, workspace: str, tool: str) -> Approval | None:
        """Return the approval of `tool` that was approved last in `workspace`; None where none was."""

    async def decide(self, signed: SignedDecision, *, now: datetime) -> Approval:
        """Store a decision, with the execution's state read in the same transaction, and return the approval as it is then.

        The same decision again changes nothing. Raise KeyError where there is no such approval in that workspace,
        `ApprovalDecidedError` where it was decided otherwise or the execution has ended or was cancelled, and
        `ApprovalExpiredError`.
        """

    async def use(self, approval: str, *, seq: int, now: datetime) -> Approval:
        """Take one send of an approved form for call `seq` of its execution; again for the same call changes nothing.

        Return the approval as it is then. Raise `ApprovalDecidedError` where none is left, and KeyError.
        """

    async def record_notice(self, approval: str, notice: ApprovalNotice) -> ApprovalNotice:
        """Store what became of an attempt to send the notice, unless it is settled, and return it as it is stored then.

        Raise KeyError.
        """

    async def withdraw(self, execution: str, *, now: datetime) -> None:
        """Withdraw what still waits of an execution that has ended."""

    async def add_standing(self, standing: StandingApproval, *, most: int) -> None:
        """Store a standing approval. Raise `TooManyStandingError` where its workspace has `most` that are not over."""

    async def list_standing(self, workspace: str) -> Sequence[StandingApproval]:
        """Return the standing approvals of `workspace`, the newest first."""

    async def revoke_standing(self, workspace: str, standing: str) -> StandingApproval | None:
        """Revoke a standing approval and return it; None where there is none in `workspace`."""

    async def take_standing(self, standing: str, *, execution: str, seq: int) -> StandingApproval:
        """Take one use for a call; again for the same call changes nothing. Raise `ApprovalDecidedError` or KeyError."""


class TooManyStandingError(Exception):
    """The workspace has as many standing approvals as it may have. Nothing was stored."""


class DecisionVerifier(Protocol):
    """Verifies what people decided by the published halves of the api's key."""

    def verify(self, message: bytes, *, key: int, signature: str) -> bool:
        """Tell whether `signature` (hex) of `message` is by version `key`, which is published."""
