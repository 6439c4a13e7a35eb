"""An approval: one call that waits for a person, what it would send, and what the person decided."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from ferryman.domain.approvals.decision import Decision, DecisionVerdict, SignedDecision
from ferryman.domain.approvals.notice import ApprovalNotice
from ferryman.domain.copies import replace
from ferryman.domain.labels.label import FlowLabel

LIFETIME = timedelta(days=30)
"""How long a call waits for a person."""

SENDS_MAX = 5
"""For how many sends of the same form one decision may be."""

FORM_BYTES_MAX = 700_000
"""A form that is longer is refused: the store could not keep it for a person to read."""


class ApprovalState(StrEnum):
    """What became of an approval."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EDITED = "edited"
    """A person has written other arguments: they are another call, with an approval of its own."""
    ANSWERED = "answered"
    """A person has answered what an MCP server asked."""
    WITHDRAWN = "withdrawn"
    """The execution ended, or its form changed and was asked about again."""


STATE_OF = {
    DecisionVerdict.APPROVE: ApprovalState.APPROVED,
    DecisionVerdict.DENY: ApprovalState.DENIED,
    DecisionVerdict.EDIT: ApprovalState.EDITED,
    DecisionVerdict.ANSWER: ApprovalState.ANSWERED,
}


class ApprovalDecidedError(Exception):
    """A person has decided otherwise before, or the call does not wait any longer. Nothing was stored."""


class ApprovalExpiredError(Exception):
    """The time in which a person could decide is over. Nothing was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A call that waits, or waited, for a person.

    `form` is the canonical form of what would be sent (`form.build_form`), `digest` its hash in hex. `before` is the approval
    of the same tool in the same workspace that was approved last, "" where there is none: the difference to it is shown.
    `sent` are the calls, by number, that were sent under it: at most `sends_max` of them. `notice` is what became of the
    message that it waits. `host` is that of the request, "" where it is of none: lists show it without reading the form.
    """

    id: str
    owner: str
    workspace: str
    agent: str
    task: str
    conversation: str
    execution: str
    seq: int
    tool: str
    host: str = ""
    form: str = field(repr=False)
    digest: str
    label: FlowLabel
    before: str = ""
    state: ApprovalState = ApprovalState.PENDING
    created_at: datetime
    expires_at: datetime
    decided: SignedDecision | None = None
    sent: tuple[int, ...] = ()
    notice: ApprovalNotice = field(default_factory=ApprovalNotice)

    @property
    def sends_max(self) -> int:
        """For how many sends it is."""
        return 0 if self.decided is None or self.state is not ApprovalState.APPROVED else self.decided.decision.sends_max

    def is_subject_of(self, decision: Decision) -> bool:
        """Tell whether `decision` is about this approval, of this call of this execution, and about its form."""
        subject = (decision.approval, decision.digest, decision.owner, decision.workspace, decision.execution, decision.seq)
        return subject == (self.id, self.digest, self.owner, self.workspace, self.execution, self.seq)

    def has_room(self, seq: int) -> bool:
        """Tell whether call `seq` may be sent under it: it was already, or fewer than `sends_max` were."""
        return seq in self.sent or len(self.sent) < self.sends_max


def derive_approval_id(execution: str, seq: int, digest: str) -> str:
    """Return the id of the approval of a call whose form has this `digest`."""
    return f"appr_{hashlib.sha256(f'{execution}/{seq}/{digest}'.encode()).hexdigest()[:30]}"


def decide_approval(approval: Approval, signed: SignedDecision, *, now: datetime) -> Approval:
    """Return `approval` as it was decided; unchanged where the same was decided before, by anybody.

    Raise `ApprovalDecidedError` or `ApprovalExpiredError`.
    """
    before, decision = approval.decided, signed.decision
    if before is not None and before.decision.says_same(decision):
        return approval
    if approval.state is not ApprovalState.PENDING:
        raise ApprovalDecidedError(f"the call does not wait for a decision any longer: it is {approval.state}")
    if now >= approval.expires_at:
        raise ApprovalExpiredError("the time in which this call could be decided about is over")
    return replace(approval, state=STATE_OF[decision.verdict], decided=signed)


def use_approval(approval: Approval, seq: int) -> Approval:
    """Return `approval` with one send used for call `seq`; unchanged where it has used one. Raise `ApprovalDecidedError`."""
    if not approval.has_room(seq):
        raise ApprovalDecidedError("every send that was approved is used")
    return approval if seq in approval.sent else replace(approval, sent=(*approval.sent, seq))


def withdraw_approval(approval: Approval) -> Approval:
    """Return `approval` as one that nobody decides about any longer; one that was decided stays."""
    return replace(approval, state=ApprovalState.WITHDRAWN) if approval.state is ApprovalState.PENDING else approval
