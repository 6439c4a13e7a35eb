"""Parking: an execution whose next call a person decides about holds nothing, and goes on once that is decided.

What was decided is judged by the function that would send the call, which verifies it: here, it is only asked again.
An edit alone is acted upon here: the person's arguments become a call of their own, which is asked about itself.
"""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal

from ferryman.domain.approvals.approval import LIFETIME, Approval, ApprovalState
from ferryman.domain.approvals.decision import encode_decision
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket, TicketState, ToolCall, ToolCallResult, describe_parts
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.calls.sub_calls import SubCalls
from ferryman.domain.copies import replace
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.postponement import Postponement
from ferryman.loop.alerting import enqueue_alerts, enqueue_notice
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.journal import Run
from ferryman.loop.start import BudgetReachedError

LONGEST = LIFETIME - timedelta(minutes=1)
"""The longest delay of a delivery: a little less than the queue takes, whose clock is another one."""

EDITED = "A person changed the arguments of this call before it was made, and this is the result of the changed call."
SHOWN_CHARACTERS_MAX = 2_000
"""Arguments of an edit that are longer are not repeated before the result."""


def wait_for(approval: str) -> Postponement:
    """Return the postponement until a person has decided about `approval`."""
    return Postponement(reason="a person has to decide about a call", waiting_for=approval)


async def find_wait(deps: LoopDependencies, run: Run) -> Postponement | None:
    """Return the postponement of a parked execution as long as nobody has decided about any call of it that waits."""
    parents = {ticket.parent for ticket in run.pending}
    waiting = [ticket for ticket in run.pending if ticket.state is TicketState.WAITING and ticket.seq not in parents]
    for ticket in waiting:
        if not _is_open(deps, await deps.approvals.get(ticket.approval)):
            return None
    return wait_for(waiting[0].approval) if waiting else None


async def resume(deps: LoopDependencies, run: Run) -> None:
    """Take the reservation of a parked execution again. Raise `BudgetReachedError` where the caps leave less by now."""
    reserve = run.opening.max_credits
    try:
        stored = await deps.executions.resume(run.execution, reserve=reserve, now=deps.clock.now())
    except InsufficientCreditsError as error:
        await enqueue_alerts(deps, run.execution, [error.alert] if error.alert else [])
        raise BudgetReachedError(str(error)) from None
    run.execution = stored


def compute_kept(run: Run) -> Decimal:
    """Return the credits that stay reserved for a parked execution: those that are used, and the fees of the turn's calls."""
    return max(run.execution.credits_used, run.committed + run.execution.credits_held)


async def park(deps: LoopDependencies, run: Run, approval: str) -> int:
    """Park the execution until a person has decided about `approval`, and have it delivered then. Return its next slice.

    Raise `StaleError` or `UnavailableError`: the delivery comes again then.
    """
    now, execution = deps.clock.now(), run.execution
    waiting = {ticket.seq: ticket.approval for ticket in run.pending if ticket.state is TicketState.WAITING}
    for other in dict.fromkeys({**waiting, **run.open_approvals}.values()):
        if other != approval:  # before it is parked: a delivery that fails here comes again, and does all of it again
            await enqueue_notice(deps, other)
    following = await deps.executions.park(execution, waiting_for=approval, keep=compute_kept(run), now=now)
    deps.log("call.waiting", execution=execution.id, approval=approval, slice=following)
    await enqueue_wake_up(deps, execution.id, approval, slice=following)
    return following


async def enqueue_wake_up(deps: LoopDependencies, execution: str, approval: str, *, slice: int) -> None:
    """Enqueue the slice of a parked execution for when the approval expires, or for now where that is decided already.

    Who decided before the execution was parked has had the slice before it delivered.
    """
    stored = await deps.approvals.get(approval)
    if stored is not None and _is_open(deps, stored):
        await enqueue_notice(deps, approval)
        await deps.queue.enqueue(execution, slice=slice, after=min(LONGEST, stored.expires_at - deps.clock.now()))
    else:
        await deps.queue.enqueue(execution, slice=slice, wake_up="decided")


async def follow_edit(deps: LoopDependencies, run: Run, ticket: Ticket) -> Ticket | SubCalls | Postponement | None:
    """Return what becomes of a call that waits: the call with the person's arguments, or its result as that of `ticket`.

    Or the postponement where nobody has decided yet; None where the function that would send it is to be asked.
    """
    if ticket.state is not TicketState.WAITING:
        return None
    approval = await deps.approvals.get(ticket.approval)
    if _is_open(deps, approval):
        return wait_for(ticket.approval)
    arguments = _read_edit(deps, run.execution, ticket, approval)
    if arguments is None:
        return None
    results = [result for result in run.results if result.parent == ticket.seq]
    if not results:
        return SubCalls((ToolCall(id=f"{ticket.call}_edited", name=ticket.tool, arguments=arguments),))
    return replace(ticket, result=_build_edited(ticket, results[-1]))


def _is_open(deps: LoopDependencies, approval: Approval | None) -> bool:
    """Tell whether a person may still decide about it."""
    return approval is not None and approval.state is ApprovalState.PENDING and deps.clock.now() < approval.expires_at


def _read_edit(
    deps: LoopDependencies, execution: Execution, ticket: Ticket, approval: Approval | None
) -> dict[str, object] | None:
    """Return the arguments that a person wrote in the place of the call's; None where nobody did, by a signature of the api."""
    if approval is None or approval.state is not ApprovalState.EDITED or approval.decided is None:
        return None
    signed = approval.decided
    subject = (approval.id, approval.execution, approval.seq, approval.digest)
    expected = (ticket.approval, execution.id, ticket.seq, ticket.form_digest)
    if subject != expected or not approval.is_subject_of(signed.decision):
        return None
    if not deps.decisions.verify(encode_decision(signed.decision), key=signed.key, signature=signed.signature):
        deps.log("approval.forged", execution=execution.id, approval=approval.id, severity="ERROR")
        return None
    arguments = json.loads(signed.decision.edited)
    return arguments if isinstance(arguments, dict) else None


def _build_edited(ticket: Ticket, changed: Ticket) -> ToolCallResult:
    """Return the result of a call whose arguments a person changed: that of the call that was made, after a line that says so.

    The call itself is blocked: it was not made, and costs nothing.
    """
    assert changed.result is not None, "its sub-calls have settled"
    result = describe_parts(changed.result)
    text = json.dumps(dict(changed.display_arguments), ensure_ascii=False)
    line = f"{EDITED} {text}\n" if len(text) <= SHOWN_CHARACTERS_MAX else f"{EDITED}\n"
    parts = [replace(part, start=part.start + len(line), end=part.end + len(line)) for part in result.parts]
    return replace(
        result,
        tool=ticket.tool,
        content=line + result.content,
        parts=(Part(kind=PartKind.TEXT, start=0, end=len(line)), *parts),
        blocked=True,
        block_reason=refusal.EDITED,
    )
