"""Authority: what a call may be sent under. A signature by the api counts, over what is about to leave; no document does.

Whatever is stored may have been written by anybody who can write to the store. So every field that decides is either signed, or
computed here again, from the request and from the execution.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ferryman.domain.approvals.approval import SENDS_MAX, Approval, ApprovalState, derive_approval_id
from ferryman.domain.approvals.decision import DecisionVerdict, SignedDecision, encode_decision
from ferryman.domain.approvals.rules import CallFacts
from ferryman.domain.approvals.standing import USES_LIMIT, StandingApproval, encode_standing
from ferryman.ports.approvals import DecisionVerifier
from ferryman.ports.tickets import ClaimedCall


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPlace:
    """Whose call it is, and where it is made: what an authority has to be for."""

    owner: str
    workspace: str
    task: str
    execution: str

    @classmethod
    def read(cls, claimed: ClaimedCall) -> CallPlace:
        """Return the place of a claimed call, as its execution is stored."""
        context = claimed.context
        return cls(
            owner=claimed.policy.owner,
            workspace=context.workspace,
            task=claimed.policy.task,
            execution=claimed.call_request.execution,
        )


def admits(approval: Approval, *, seq: int, digest: str, place: CallPlace, verifier: DecisionVerifier, now: datetime) -> bool:
    """Tell whether a person has approved the form with this `digest`, which was computed with the expiry of `approval`, for
    call `seq`: what is approved for one send is so for the call that was asked about, and for no other.

    Whether a send is left of several is for the store to say.
    """
    signed = approval.decided
    if signed is None or approval.state is not ApprovalState.APPROVED:
        return False
    decision = signed.decision
    return (
        _is_bound(approval, signed, place)
        and decision.verdict is DecisionVerdict.APPROVE
        and decision.digest == digest
        and decision.approval == derive_approval_id(place.execution, decision.seq, digest)
        and 1 <= decision.sends_max <= SENDS_MAX
        and (decision.sends_max > 1 or decision.seq == seq)
        and now < approval.expires_at
        and _is_signed(signed, verifier)
    )


def denies(approval: Approval, *, seq: int, place: CallPlace, verifier: DecisionVerifier) -> bool:
    """Tell whether a person has denied call `seq`, in whatever form."""
    signed = approval.decided
    if signed is None or approval.state is not ApprovalState.DENIED:
        return False
    is_denial = signed.decision.verdict is DecisionVerdict.DENY and signed.decision.seq == seq
    return is_denial and _is_bound(approval, signed, place) and _is_signed(signed, verifier)


def answers(approval: Approval, *, seq: int, digest: str, place: CallPlace, verifier: DecisionVerifier) -> str | None:
    """Return what a person has answered to the question with this `digest` of call `seq`, as JSON; None where nobody has."""
    signed = approval.decided
    if signed is None or approval.state is not ApprovalState.ANSWERED:
        return None
    decision = signed.decision
    is_answer = (decision.verdict, decision.seq, decision.digest) == (DecisionVerdict.ANSWER, seq, digest)
    is_bound = is_answer and decision.approval == derive_approval_id(place.execution, seq, digest)
    return decision.edited if is_bound and _is_bound(approval, signed, place) and _is_signed(signed, verifier) else None


def admits_beforehand(
    standing: StandingApproval,
    facts: CallFacts,
    *,
    fingerprint: str,
    place: CallPlace,
    verifier: DecisionVerifier,
    now: datetime,
) -> bool:
    """Tell whether a person has approved such calls beforehand, of a declared tool with this `fingerprint`, "" for others.

    Whether a use is left is for the store to say.
    """
    return (
        (standing.owner, standing.workspace) == (place.owner, place.workspace)
        and standing.fingerprint == fingerprint
        and 1 <= standing.uses_max <= USES_LIMIT
        and _verify(standing, verifier)
        and standing.covers(facts, task=place.task, now=now)
    )


def _is_bound(approval: Approval, signed: SignedDecision, place: CallPlace) -> bool:
    decision = signed.decision
    where = (decision.owner, decision.workspace, decision.execution)
    return where == (place.owner, place.workspace, place.execution) and approval.is_subject_of(decision)


def _is_signed(signed: SignedDecision, verifier: DecisionVerifier) -> bool:
    try:
        message = encode_decision(signed.decision)
    except (ValueError, TypeError, AttributeError):
        return False  # what was stored is no decision
    return verifier.verify(message, key=signed.key, signature=signed.signature)


def _verify(standing: StandingApproval, verifier: DecisionVerifier) -> bool:
    try:
        message = encode_standing(standing)
    except (ValueError, TypeError, AttributeError):
        return False
    return verifier.verify(message, key=standing.key, signature=standing.signature)
