"""Decisions of people: signed, stored, and executed by the next delivery of the execution that waits.

A delivery is enqueued a few seconds ahead before a decision is stored: one that was stored is executed, whatever dies.
"""

from __future__ import annotations

import hmac
from datetime import timedelta

from starlette.exceptions import HTTPException

from ferryman.composition.api import ApiDependencies
from ferryman.domain.approvals.approval import Approval, ApprovalDecidedError, ApprovalExpiredError
from ferryman.domain.approvals.decision import Decision, DecisionVerdict, SignedDecision, encode_decision
from ferryman.domain.approvals.request import encode_arguments, find_decision_problems
from ferryman.domain.executions.execution import OWNER
from ferryman.domain.problem import InvalidInputError, build_input_error
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.errors import ConflictError, NotFoundError
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes.approval import NewDecision

AHEAD = timedelta(seconds=10)
"""How much later the delivery comes that is enqueued before a decision is stored."""


async def decide_checked(deps: ApiDependencies, caller: Caller, approval: Approval, body: NewDecision) -> Approval:
    """Decide as `decide` does, once everything in `body` is accepted: it names the digest of the approval as it is now.

    Raise `InvalidInputError`, 409 while the owner is halted, and what `decide` raises.
    """
    problems = find_decision_problems(
        body.verdict,
        sends=body.sends,
        reason=body.reason,
        arguments=body.arguments,
        declassified=body.declassify,
        form=approval.form,
    )
    if listed := list(problems):
        raise InvalidInputError(listed)
    if not hmac.compare_digest(body.digest.encode(errors="replace"), approval.digest.encode()):
        raise build_input_error("digest", "must be the digest of the approval as it is now: read it again before you decide")
    await refuse_halted(deps, caller)
    return await decide(deps, caller, approval, body)


async def refuse_halted(deps: ApiDependencies, caller: Caller) -> None:
    """Raise 409 while the owner, or everybody, is halted: nothing is decided then."""
    halted = await deps.halts.find_halt_reason(caller.owner.id)
    if halted is not None:
        raise ConflictError(f"nothing is decided: {halted}")


async def decide(deps: ApiDependencies, caller: Caller, approval: Approval, body: NewDecision) -> Approval:
    """Decide in the caller's name, and have the execution go on. Return the approval as it is then.

    Raise 409 where it was decided otherwise or its execution ended, 410 where its time is over, and `UnavailableError` where
    nothing was stored.
    """
    execution = await deps.executions.get(approval.execution)
    signed = await _sign(deps, _build_decision(deps, caller, approval, body))
    if execution is not None and not execution.status.terminal:
        # of the next slice: the execution may be on its way to waiting, which ends the present one
        await _wake(deps, approval.execution, slice=execution.slice + 1, after=AHEAD)
    try:
        decided = await deps.approvals.decide(signed, now=deps.clock.now())
    except KeyError:
        raise NotFoundError("approval") from None
    except ApprovalDecidedError as error:
        raise ConflictError(str(error)) from None
    except ApprovalExpiredError as error:
        raise HTTPException(410, str(error)) from None
    try:
        waiting = await deps.executions.get(approval.execution)
        if waiting is not None and not waiting.status.terminal:
            await _wake(deps, approval.execution, slice=waiting.slice, after=timedelta(0))
    except UnavailableError as error:
        deps.tracer.line("decision.not_enqueued", severity="WARNING", approval=approval.id, error=type(error).__name__)
    return decided


def _build_decision(deps: ApiDependencies, caller: Caller, approval: Approval, body: NewDecision) -> Decision:
    return Decision(
        approval=approval.id,
        digest=approval.digest,
        owner=approval.owner,
        workspace=approval.workspace,
        execution=approval.execution,
        seq=approval.seq,
        verdict=body.verdict,
        sends_max=body.sends if body.verdict is DecisionVerdict.APPROVE else 0,
        reason=body.reason,
        edited="" if body.arguments is None else encode_arguments(body.arguments),
        declassified=body.declassify,
        by=caller.person or OWNER,
        at=deps.clock.now(),
    )


async def _sign(deps: ApiDependencies, decision: Decision) -> SignedDecision:
    key = await deps.decision_signing.key()
    return SignedDecision(decision=decision, key=key.version, signature=key.sign(encode_decision(decision)).hex())


async def _wake(deps: ApiDependencies, execution: str, *, slice: int, after: timedelta) -> None:
    # a name that was used before would enqueue nothing
    await deps.queue.enqueue(execution, slice=slice, after=after, wake_up=deps.ids.new("decided"))
