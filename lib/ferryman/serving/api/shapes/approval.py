"""Approvals: calls that wait for a person, what is decided about them, and what is approved beforehand."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from pydantic import Field, StrictInt, StrictStr

from ferryman.domain.approvals.approval import Approval, ApprovalState
from ferryman.domain.approvals.decision import DecisionVerdict, SignedDecision
from ferryman.domain.approvals.standing import StandingApproval
from ferryman.domain.records import document
from ferryman.serving.api.shapes.call import FlowLabelResponse
from ferryman.serving.api.shapes.shape import ListPage, RequestShape, ResponseShape


class NewDecision(RequestShape):
    """What a person decides about a call that waits, as they were shown it."""

    verdict: DecisionVerdict
    digest: StrictStr = Field(description="The `digest` of the approval that was shown: it is decided about nothing else")
    sends: StrictInt = Field(default=1, description="For how many sends of the same form, 1 to 5; approve alone has it")
    reason: StrictStr = Field(default="", description="Why, for the model to read; it is stored with the decision")
    arguments: dict[str, Any] | None = Field(
        default=None, description="All arguments of the call that is made instead; edit alone has them"
    )
    declassify: StrictStr = Field(
        default="",
        description="A value of 4 to 199 characters that the form shows as untrusted: in later turns of the execution it "
        "counts as a person's, wherever an argument is exactly it; approve alone has it",
    )


class DecisionResponse(ResponseShape):
    """What was decided, by whom and when: `by` is a person's id, or `owner`. `key` is the version of the key that signed it.

    `declassified` is a value that counts as a person's in later turns of the execution, "" for none.
    """

    verdict: DecisionVerdict
    sends: int
    reason: str
    arguments: dict[str, Any] | None
    declassified: str
    by: str
    at: datetime
    key: int
    signature: str


class ListedApproval(ResponseShape):
    """A call that waits, or waited, for a person: all but its form. `expired` tells that nobody can decide any longer.

    `sent` are the calls of the execution, by `seq`, that were sent under it.
    """

    approval_id: str
    workspace_id: str
    agent_id: str
    task_id: str
    conversation_id: str | None
    execution_id: str
    seq: int
    tool: str
    host: str | None = Field(description="The host of the request; null: it is of no request")
    digest: str
    state: ApprovalState
    expired: bool
    created_at: datetime
    expires_at: datetime
    decision: DecisionResponse | None
    sent: tuple[int, ...]


class EarlierForm(ResponseShape):
    """What was approved last of the same tool in the workspace."""

    approval_id: str
    digest: str
    form: dict[str, Any]


class ApprovalResponse(ListedApproval):
    """An approval with its form: what would be sent, with every secret named in the place of its value.

    `digest` is the SHA-256 of the canonical form. `label` says what the model had read before it wrote the call, and `flow` in
    the form which words of which source decided each of its arguments.
    """

    form: dict[str, Any]
    label: FlowLabelResponse
    before: EarlierForm | None = Field(description="To compare with; null: none was approved before")


class ApprovalList(ListPage):
    """A page of approvals, newest first."""

    approvals: tuple[ListedApproval, ...]


class NewStandingApproval(RequestShape):
    """What is approved beforehand: calls of `tool` that every list which is not empty covers."""

    tool: StrictStr
    task_id: StrictStr | None = Field(default=None, description="Of this task alone; null: of every task of the workspace")
    hosts: tuple[StrictStr, ...] = Field(default=(), description="Hosts, as api.example.com or *.example.com; empty: any")
    methods: tuple[StrictStr, ...] = Field(default=(), description="HTTP methods; empty: any")
    arguments: dict[str, Any] = Field(default_factory=dict, description="Arguments that have to be equal; others may be any")
    uses: StrictInt = Field(description="For how many calls, 1 to 500")
    expires_in_days: StrictInt = Field(description="For how many days, 1 to 365")


class StandingApprovalResponse(ResponseShape):
    """What is approved beforehand. `used` counts the calls that were sent under it; `by` is a person's id, or `owner`."""

    standing_approval_id: str
    workspace_id: str
    task_id: str | None
    tool: str
    hosts: tuple[str, ...]
    methods: tuple[str, ...]
    arguments: dict[str, Any]
    uses: int
    used: int
    by: str
    created_at: datetime
    expires_at: datetime
    revoked: bool
    key: int
    signature: str


class StandingApprovalList(ListPage):
    """A page of standing approvals, by id."""

    standing_approvals: tuple[StandingApprovalResponse, ...]


def to_listed(approval: Approval, *, now: datetime) -> ListedApproval:
    """Return `approval` as a list tells of it."""
    return ListedApproval.model_validate(_describe(approval, now))


def to_response(approval: Approval, before: Approval | None, *, now: datetime) -> ApprovalResponse:
    """Return `approval` with its form, and that of the one `before`."""
    earlier = None if before is None else {"approval_id": before.id, "digest": before.digest, "form": json.loads(before.form)}
    label = document.serialize(approval.label)
    return ApprovalResponse.model_validate(
        {**_describe(approval, now), "form": json.loads(approval.form), "label": label, "before": earlier}
    )


def _describe(approval: Approval, now: datetime) -> dict[str, Any]:
    return {
        "approval_id": approval.id,
        "workspace_id": approval.workspace,
        "agent_id": approval.agent,
        "task_id": approval.task,
        "conversation_id": approval.conversation or None,
        "execution_id": approval.execution,
        "seq": approval.seq,
        "tool": approval.tool,
        "host": approval.host or None,
        "digest": approval.digest,
        "state": approval.state,
        "expired": approval.state is ApprovalState.PENDING and now >= approval.expires_at,
        "created_at": approval.created_at,
        "expires_at": approval.expires_at,
        "decision": None if approval.decided is None else _describe_decision(approval.decided),
        "sent": approval.sent,
    }


def _describe_decision(signed: SignedDecision) -> dict[str, Any]:
    decision = signed.decision
    return {
        "verdict": decision.verdict,
        "sends": decision.sends_max,
        "reason": decision.reason,
        "arguments": json.loads(decision.edited) if decision.edited else None,
        "declassified": decision.declassified,
        "by": decision.by,
        "at": decision.at,
        "key": signed.key,
        "signature": signed.signature,
    }


def to_standing(standing: StandingApproval) -> StandingApprovalResponse:
    """Return a standing approval as it is stored."""
    return StandingApprovalResponse(
        standing_approval_id=standing.id,
        workspace_id=standing.workspace,
        task_id=standing.task or None,
        tool=standing.tool,
        hosts=standing.hosts,
        methods=standing.methods,
        arguments=json.loads(standing.arguments),
        uses=standing.uses_max,
        used=len(standing.used),
        by=standing.by,
        created_at=standing.created_at,
        expires_at=standing.expires_at,
        revoked=standing.revoked,
        key=standing.key,
        signature=standing.signature,
    )
