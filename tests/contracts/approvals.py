"""Calls that wait for a person, their approvals, and what is decided about them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.approvals.approval import LIFETIME, Approval, derive_approval_id
from ferryman.domain.approvals.decision import Decision, DecisionVerdict, SignedDecision
from ferryman.domain.approvals.standing import StandingApproval
from ferryman.domain.labels.label import OWNED

from .conftest import Stores
from .values import EXECUTION, LATER, LEASE, NOW, call_request, open_execution, turn

SECOND = timedelta(seconds=1)


def build_approval(seq: int = 0, *, digest: str = "d1", tool: str = "api_call", at: datetime = LATER, **other: Any) -> Approval:
    """Return an approval of call `seq` of `EXECUTION` that nobody has decided about."""
    execution = replace(EXECUTION, id=other.pop("execution", EXECUTION.id))
    return Approval(
        id=derive_approval_id(execution.id, seq, digest),
        owner=execution.owner,
        workspace=other.pop("workspace", execution.workspace),
        agent=execution.agent,
        task=execution.task,
        conversation=other.pop("conversation", ""),
        execution=execution.id,
        seq=seq,
        tool=tool,
        host="api.example.com",
        form='{"what":"ü"}',
        digest=digest,
        label=OWNED,
        created_at=at,
        expires_at=at + LIFETIME,
        **other,
    )


def sign(
    approval: Approval, verdict: DecisionVerdict = DecisionVerdict.APPROVE, *, sends: int = 1, **other: Any
) -> SignedDecision:
    """Return a decision about `approval`, with a signature that the stores do not look at."""
    decision = Decision(
        approval=approval.id,
        digest=approval.digest,
        owner=approval.owner,
        workspace=approval.workspace,
        execution=approval.execution,
        seq=approval.seq,
        verdict=verdict,
        sends_max=sends if verdict is DecisionVerdict.APPROVE else 0,
        **{"by": "pat", "at": LATER, **other},
    )
    return SignedDecision(decision=decision, key=1, signature="00")


async def journal_calls(stores: Stores) -> None:
    """Store `EXECUTION` of the epoch 1 with two calls that are meant."""
    await stores.executions.commit(await open_execution(stores), turn(), now=NOW, lease=LEASE)


async def ask(stores: Stores, seq: int = 0, *, digest: str = "d1", at: datetime = LATER) -> Approval:
    """Have call `seq` wait for a person, and return its approval."""
    claimed_call = await stores.tickets.claim(call_request(seq), tool="api_call", now=at)
    approval = build_approval(seq, digest=digest, at=at)
    await stores.tickets.ask(claimed_call, approval, now=at)
    return approval


def build_standing(number: int = 1, **other: Any) -> StandingApproval:
    """Return a standing approval of two calls of `EXECUTION`'s workspace."""
    values: dict[str, Any] = {
        "id": f"stand_{number}",
        "owner": EXECUTION.owner,
        "workspace": EXECUTION.workspace,
        "tool": "api_call",
        "hosts": ("api.github.com",),
        "uses_max": 2,
        "by": "pat",
        "created_at": NOW + number * SECOND,
        "expires_at": NOW + timedelta(days=1),
        "signature": "00",
    }
    return StandingApproval(**{**values, **other})
