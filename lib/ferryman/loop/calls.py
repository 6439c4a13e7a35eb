"""The calls of one turn, executed in order: each admitted by the limits, executed by its tool and counted (S0-108 … S0-110)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import (
    UNSENT,
    Ticket,
    TicketState,
    ToolCallResult,
    is_outcome_unknown,
    truncate_names,
)
from ferryman.domain.calls.labelling import label_result
from ferryman.domain.calls.refusal import Refusal
from ferryman.domain.calls.sub_calls import SubCalls
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.postponement import Postponement
from ferryman.domain.executions.waiting import measure_waited
from ferryman.domain.files.kept import tell_unkept
from ferryman.domain.stale import StaleError
from ferryman.domain.tools.tool import Tool
from ferryman.loop import parking, passing, spans, sub_calls
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.journal import Run
from ferryman.loop.limits import CallTally
from ferryman.ports.errors import HaltedError, TaskDisabledError, UnavailableError


class ExecutionCancelledError(Exception):
    """The owner or the operator ended the execution; the text says why. What was not sent yet is not sent."""

    def __init__(self, reason: str, *, status: Status = Status.KILLED) -> None:
        super().__init__(reason)
        self.status = status

    @classmethod
    def from_halt(cls, halted: HaltedError) -> ExecutionCancelledError:
        """Return the error for a kill switch, or for a task that was disabled or deleted."""
        return cls(str(halted), status=Status.FAILED if isinstance(halted, TaskDisabledError) else Status.KILLED)


async def execute_next(deps: LoopDependencies, run: Run) -> Postponement | None:
    """Execute the first pending call and count its result; return a postponement where an earlier attempt may still run.

    Where it asks for other calls first, these are journaled and come before it.

    Raise `ExecutionCancelledError`, `StaleError` or `UnavailableError`.
    """
    ticket = run.pending[0]
    with spans.open_tool_span(deps, run.execution, ticket) as span:
        outcome = await settle_call(deps, run, ticket, CallTally.begin(run, deps.clock.now))
        if isinstance(outcome, Postponement):
            return outcome
        if isinstance(outcome, SubCalls):
            await sub_calls.journal_sub_calls(deps, run, ticket, outcome)
            return None
        spans.record_result(span, outcome)
    count_results(run, [outcome])
    return None


def count_results(run: Run, outcomes: Sequence[Ticket]) -> None:
    """Count the results of the first pending calls, in call order, and close the turn where they were its last ones.

    The rate is counted by the times at which calls were sent, as the journal has them: so that every delivery and every replay
    counts the same.
    """
    sent = [
        outcome.sent_at
        for ticket, outcome in zip(run.pending, outcomes, strict=False)
        if ticket.state in UNSENT and outcome.sent_at is not None and find_tool(ticket.tool).policy.counts
    ]
    for moment in sorted(sent):
        run.execution = replace(run.execution, rate=run.execution.rate.count(moment))
    for outcome in outcomes:
        run.count_result(outcome)
    if not run.pending:
        run.close_turn()


def wait_for_rate(deps: LoopDependencies, run: Run) -> Postponement | None:
    """Return the postponement until a call is possible, where every call of the last turn was refused for the rate.

    A model cannot wait: it would only ask again, and pay for it. Return None where the wait would be no use: for the
    execution's own limit, and where its time is up before.
    """
    policy, started_at = run.execution.policy, run.execution.started_at
    if not run.is_rate_limited or policy is None or started_at is None or is_out_of_calls(run):
        return None
    now = deps.clock.now()
    after = run.execution.rate.compute_wait(policy.plan, now)
    if not after or now + after >= started_at + measure_waited(run.execution, now) + deps.execution_timeout:
        return None
    return Postponement(reason="the plan's limit of calls per minute is reached", after=after)


def is_out_of_calls(run: Run) -> bool:
    """Say whether the model was told that no call is possible any longer, and only asked for further ones."""
    policy = run.execution.policy
    return run.is_rate_limited and policy is not None and run.execution.rate.is_used_up(policy.plan)


async def withdraw(deps: LoopDependencies, run: Run) -> Postponement | None:
    """Settle every pending ticket without sending its call: as cancelled where it was not sent.

    A call that was sent is waited for until its deadline (the postponement returned), and is in doubt after it.
    """
    if not run.pending:
        return None
    # as the record has them: a call that was handed over may have been sent, or answered, without our knowledge
    first = min(ticket.seq for ticket in run.pending)
    stored = {ticket.seq: ticket for ticket in await deps.executions.tickets(run.execution.id, first=first)}
    for ticket in [stored[pending.seq] for pending in run.pending]:
        if ticket.result is not None:
            run.count_result(await _drop_overflow(deps, run, ticket))
        elif ticket.state is TicketState.SENT:
            if (postponement := _postpone(deps, ticket)) is not None:
                return postponement
            run.count_result(await _settle_unsent(deps, run, ticket, refusal.IN_DOUBT))
        else:
            await _abandon(deps, run, ticket)
            reason = refusal.IN_DOUBT if ticket.goes_on else refusal.EXECUTION_ENDED  # also while its host asks something
            run.count_result(await _settle_unsent(deps, run, ticket, reason))
    if run.execution.answer:
        run.close_turn()  # later answers of the conversation know what it did, and what it did not
    return None


async def settle_call(deps: LoopDependencies, run: Run, ticket: Ticket, tally: CallTally) -> Ticket | Postponement | SubCalls:
    """Return the ticket with its result, as it is stored; the call counts in `tally` before anything is waited for."""
    if ticket.state is TicketState.SETTLED and ticket.result is not None:
        return ticket
    again = ticket.state is TicketState.SENT or ticket.goes_on
    if again and not ticket.is_answered and (postponement := _postpone(deps, ticket)) is not None:
        return postponement

    decided_at: datetime | None = None

    def admit(tool: Tool) -> None:
        nonlocal decided_at
        if not again:  # it was admitted, and counted, when it was first sent; its tool knows whether it may be repeated
            try:
                tally.admit(ticket, tool)
            finally:
                decided_at = tally.decided_at

    label = run.label_arguments(ticket)
    pending = ticket if label is ticket.label else replace(ticket, label=label)
    try:
        outcome = await parking.follow_edit(deps, run, ticket)
        if outcome is None:
            outcome = passing.refuse_source(run, ticket)
        if outcome is None:
            outcome = await deps.registry.execute(pending, execution=run.execution, admit=admit)
        if isinstance(outcome, SubCalls):
            outcome = passing.follow_pass(run, ticket, outcome)
        if isinstance(outcome, SubCalls) and not sub_calls.has_room(run, outcome):
            outcome = replace(ticket, result=ToolCallResult.from_refusal(ticket.tool, refusal.TOO_MANY_SUB_CALLS))
    except StaleError:
        await check_stopped(deps, run)
        raise UnavailableError("the call is already on its way under another delivery") from None
    if isinstance(outcome, Postponement | SubCalls):
        return outcome
    if outcome.state is TicketState.WAITING and outcome.result is None:
        run.has_asked = True
        run.open_approvals[ticket.seq] = outcome.approval
        return parking.wait_for(outcome.approval)
    if outcome.state is TicketState.INTENDED and outcome.result is None:
        assert outcome.resumed_at is not None, "its host is asked again at a time"
        return Postponement(reason="a server works on a call", after=outcome.resumed_at - deps.clock.now())
    if outcome.state is TicketState.SETTLED:
        return replace(outcome, label=ticket.label)
    assert outcome.result is not None, "a call that is not on its way has a result"
    result = _add_request_fields(outcome.result, pending)
    # at the time of the decision, which the result may tell of
    stored = await deps.executions.settle(run.execution, ticket.seq, result, now=decided_at or deps.clock.now())
    return await _drop_overflow(deps, run, stored)


async def check_stopped(deps: LoopDependencies, run: Run) -> None:
    """Raise the reason why an execution may not go on: a tool did not take its call, or it is to wait for a time to come.

    `StaleError` when the lease is lost, `ExecutionCancelledError` when the execution was ended; return where neither is so.
    """
    try:
        run.execution = await deps.executions.renew(run.execution, now=deps.clock.now(), lease=deps.lease)
    except HaltedError as halted:
        raise ExecutionCancelledError.from_halt(halted) from None
    if run.execution.cancel_requested:
        raise ExecutionCancelledError("cancelled")


def _postpone(deps: LoopDependencies, ticket: Ticket) -> Postponement | None:
    """Return the postponement until the deadline of a sent call: until then an earlier attempt may still be under way, or its
    host works on it."""
    now, is_sent = deps.clock.now(), ticket.state is TicketState.SENT
    until = ticket.deadline if is_sent else ticket.resumed_at
    if until is None or now >= until:
        return None
    reason = "a call of an earlier delivery may still be under way" if is_sent else "a server works on a call"
    return Postponement(reason=reason, after=until - now)


async def _abandon(deps: LoopDependencies, run: Run, ticket: Ticket) -> None:
    """Have the host of a call that goes on told that nobody waits for it any longer; it is in doubt all the same."""
    if deps.remote_work is None or not ticket.goes_on:
        return
    try:
        await deps.remote_work.cancel(ticket, execution=run.execution)
    except (UnavailableError, StaleError) as error:
        deps.log("work.not_cancelled", execution=run.execution.id, seq=ticket.seq, error=type(error).__name__)


async def _settle_unsent(deps: LoopDependencies, run: Run, ticket: Ticket, reason: Refusal) -> Ticket:
    result = _add_request_fields(ToolCallResult.from_refusal(ticket.tool, reason), ticket)
    in_doubt = is_outcome_unknown(result, find_tool(result.tool).policy.repeatable)
    stored = await deps.executions.settle(run.execution, ticket.seq, result, now=deps.clock.now(), in_doubt=in_doubt)
    return await _drop_overflow(deps, run, stored)


async def _drop_overflow(deps: LoopDependencies, run: Run, ticket: Ticket) -> Ticket:
    """Return a ticket with a result as it is settled: where it has answered and nobody will read on, without a file."""
    if not ticket.is_answered or ticket.result is None:
        return ticket
    result = tell_unkept(ticket.result, "the execution was ended")
    return await deps.executions.settle_answered(run.execution, ticket.seq, result, None, now=deps.clock.now())


def _add_request_fields(result: ToolCallResult, ticket: Ticket) -> ToolCallResult:
    """Return `result` with the URL, method and credential name of the call's arguments, as far as they are strings."""
    url, method, credential = (ticket.display_arguments.get(name) for name in ("url", "method", "credential"))
    has_credential = find_tool(ticket.tool).names_credential and isinstance(credential, str)
    named = replace(
        result,
        url=url if isinstance(url, str) else None,
        method=method.upper() if isinstance(method, str) else None,
        credential_used=credential if has_credential else None,
    )
    return label_result(truncate_names(named), find_tool(ticket.tool).policy, seq=ticket.seq, arguments=ticket.label)
