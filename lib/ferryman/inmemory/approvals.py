"""Approvals in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.domain.approvals.approval import (
    Approval,
    ApprovalDecidedError,
    ApprovalState,
    decide_approval,
    use_approval,
    withdraw_approval,
)
from ferryman.domain.approvals.decision import SignedDecision
from ferryman.domain.approvals.notice import ApprovalNotice, is_settled
from ferryman.domain.approvals.standing import StandingApproval, use_standing
from ferryman.domain.copies import replace
from ferryman.domain.page import Page, Position
from ferryman.inmemory.memory import MemoryStore
from ferryman.ports.approvals import EXECUTION_ENDED, TooManyStandingError


class MemoryApprovals(MemoryStore):
    """`ports.Approvals`."""

    async def get(self, approval: str) -> Approval | None:
        return self._memory.approvals.get(approval)

    async def list(
        self,
        workspace: str,
        *,
        state: ApprovalState | None = None,
        execution: str | None = None,
        after: Position | None = None,
        most: int = 50,
    ) -> Page[Approval]:
        newest = sorted(self._memory.approvals.values(), key=_locate, reverse=True)
        behind = [
            item
            for item in newest
            if item.workspace == workspace
            and state in (None, item.state)
            and execution in (None, item.execution)
            and (after is None or _locate(item) < after)
        ]
        return Page(
            items=tuple(map(_leave_form_out, behind[:most])), end=_locate(behind[most - 1]) if len(behind) > most else None
        )

    async def list_of(self, execution: str) -> Sequence[Approval]:
        approvals = [_leave_form_out(item) for item in self._memory.approvals.values() if item.execution == execution]
        return sorted(approvals, key=lambda item: (item.seq, item.created_at, item.id))

    async def find_last(self, workspace: str, tool: str) -> Approval | None:
        approved = [
            (item.decided.decision.at, item.id, item)
            for item in self._memory.approvals.values()
            if (item.workspace, item.tool, item.state) == (workspace, tool, ApprovalState.APPROVED) and item.decided is not None
        ]
        return max(approved)[-1] if approved else None

    async def decide(self, signed: SignedDecision, *, now: datetime) -> Approval:
        approval = self._memory.approvals[signed.decision.approval]
        if not approval.is_subject_of(signed.decision):
            raise KeyError(approval.id)
        decided = decide_approval(approval, signed, now=now)
        execution = self._memory.executions.get(approval.execution)
        if decided is not approval and (execution is None or execution.status.terminal or execution.cancel_requested):
            raise ApprovalDecidedError(EXECUTION_ENDED)
        return self._put(decided)

    async def use(self, approval: str, *, seq: int, now: datetime) -> Approval:  # noqa: ARG002 - the port's
        return self._put(use_approval(self._memory.approvals[approval], seq))

    async def record_notice(self, approval: str, notice: ApprovalNotice) -> ApprovalNotice:
        stored = self._memory.approvals[approval]
        if is_settled(stored.notice, notice):
            return stored.notice
        return self._put(replace(stored, notice=notice)).notice

    async def withdraw(self, execution: str, *, now: datetime) -> None:  # noqa: ARG002 - the port's
        for approval in [item for item in self._memory.approvals.values() if item.execution == execution]:
            self._put(withdraw_approval(approval))

    async def add_standing(self, standing: StandingApproval, *, most: int) -> None:
        known = await self.list_standing(standing.workspace)
        if sum(not item.is_over(standing.created_at) for item in known) >= most:
            raise TooManyStandingError
        self._memory.standing_approvals[standing.id] = standing

    async def list_standing(self, workspace: str) -> Sequence[StandingApproval]:
        known = [item for item in self._memory.standing_approvals.values() if item.workspace == workspace]
        return sorted(known, key=lambda item: (item.created_at, item.id), reverse=True)

    async def revoke_standing(self, workspace: str, standing: str) -> StandingApproval | None:
        known = self._memory.standing_approvals.get(standing)
        if known is None or known.workspace != workspace:
            return None
        self._memory.standing_approvals[standing] = revoked = replace(known, revoked=True)
        return revoked

    async def take_standing(self, standing: str, *, execution: str, seq: int) -> StandingApproval:
        used = use_standing(self._memory.standing_approvals[standing], execution, seq)
        self._memory.standing_approvals[standing] = used
        return used

    def _put(self, approval: Approval) -> Approval:
        self._memory.approvals[approval.id] = approval
        return approval


def _leave_form_out(approval: Approval) -> Approval:
    return replace(approval, form="")


def _locate(approval: Approval) -> Position:
    return Position(approval.created_at, approval.id)
