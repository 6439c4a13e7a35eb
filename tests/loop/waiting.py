"""A stage on which each call of `http_get` waits for a person, as a function that would send it has it wait."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.approvals.approval import LIFETIME, Approval, ApprovalState, derive_approval_id
from ferryman.domain.approvals.decision import Decision, DecisionVerdict, SignedDecision, encode_decision
from ferryman.domain.calls import refusal
from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.labels.label import OWNED
from ferryman.inmemory.approvals import MemoryApprovals

from .conftest import Stage

BY = "pat"


@dataclass
class WaitingStage(Stage):
    """`asks` are the tools whose calls wait, of the calls with the numbers `numbers` alone where they are given; the others are
    answered at once."""

    asks: tuple[str, ...] = ("http_get",)
    numbers: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.on_call = self.answer
        self.sent: list[Ticket] = []

    def answer(self, ticket: Ticket) -> ToolCallResult | Approval:
        """Return what the function that would send it makes of a call that it has claimed."""
        if ticket.tool not in self.asks or (self.numbers is not None and ticket.seq not in self.numbers):
            return self.send(ticket)
        approval, now = self.memory.approvals.get(ticket.approval), self.clock.now()
        if approval is None:
            return self.build_approval(ticket, now)
        if approval.state is ApprovalState.DENIED:
            return ToolCallResult.from_refusal(ticket.tool, refusal.refuse_denied("no"))
        if approval.state is ApprovalState.APPROVED and approval.has_room(ticket.seq):
            self.memory.approvals[approval.id] = replace(approval, sent=(ticket.seq,))
            return self.send(ticket)
        if now >= approval.expires_at:
            return ToolCallResult.from_refusal(ticket.tool, refusal.APPROVAL_EXPIRED)
        return approval

    def send(self, ticket: Ticket) -> ToolCallResult:
        """Send a call."""
        self.sent.append(ticket)
        return ToolCallResult(ticket.tool, f"answer {ticket.seq}", response_status=200)

    def note_approval(self, ticket: Ticket) -> Ticket:
        """Return the ticket with who approved it."""
        approval = self.memory.approvals.get(ticket.approval)
        if approval is None or approval.decided is None or approval.state is not ApprovalState.APPROVED:
            return ticket
        decision = approval.decided.decision
        named = {"by": decision.by, "at": decision.at, "declassified": decision.declassified}
        return replace(ticket, approved=ApprovedSend(approval=approval.id, digest=approval.digest, **named))

    def build_approval(self, ticket: Ticket, now: datetime) -> Approval:
        """Return what a person is asked about a call."""
        digest, execution = f"digest-{ticket.seq}-{now.timestamp()}", self.execution
        return Approval(
            id=derive_approval_id("e", ticket.seq, digest),
            owner="o",
            workspace=execution.workspace,
            agent=execution.agent,
            task="t",
            conversation=execution.conversation,
            execution="e",
            seq=ticket.seq,
            tool=ticket.tool,
            form=json.dumps(dict(ticket.display_arguments)),
            digest=digest,
            label=OWNED,
            created_at=now,
            expires_at=now + LIFETIME,
        )

    @property
    def pending(self) -> list[Approval]:
        """The approvals that nobody has decided about, in the order of their calls."""
        known = sorted(self.memory.approvals.values(), key=lambda approval: approval.seq)
        return [approval for approval in known if approval.state is ApprovalState.PENDING]

    async def decide(
        self, verdict: DecisionVerdict = DecisionVerdict.APPROVE, *, which: int = 0, signed: bool = True, **other: Any
    ) -> None:
        """Decide about one of the calls that wait."""
        approval = self.pending[which]
        decision = Decision(
            approval=approval.id,
            digest=approval.digest,
            owner=approval.owner,
            workspace=approval.workspace,
            execution="e",
            seq=approval.seq,
            verdict=verdict,
            sends_max=1 if verdict is DecisionVerdict.APPROVE else 0,
            by=BY,
            at=self.clock.now(),
            **other,
        )
        signature = encode_decision(decision).hex() if signed else "00"
        decided = SignedDecision(decision=decision, key=1, signature=signature)
        await MemoryApprovals(self.memory).decide(decided, now=self.clock.now())

    async def deliver_next(self) -> timedelta:
        """Deliver what the queue has next, when it is due, and return how long that took."""
        following = self.queue.take()
        assert following is not None, "nothing is enqueued"
        self.clock.turn(following.after)
        await self.run()
        return following.after
