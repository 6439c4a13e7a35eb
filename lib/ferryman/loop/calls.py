"""The calls of one turn: each in its order, admitted by the limits, carried to its tool, counted (S0-108 … S0-110)."""

from __future__ import annotations

from dataclasses import replace

from ferryman.domain import refusal, repeats
from ferryman.domain.call import AUTHENTICATED, Ticket, TicketState, ToolCall, ToolCallResult, bounded, fee_of, unknown
from ferryman.domain.execution import Status
from ferryman.domain.halt import DISABLED
from ferryman.domain.refusal import Refusal, Refused
from ferryman.domain.tool import Tool
from ferryman.loop import spans
from ferryman.loop.house import House
from ferryman.loop.journal import Run
from ferryman.loop.later import Later
from ferryman.ports import Crossing, Disabled, Halted, Stale, Unavailable


class Cancelled(Exception):  # noqa: N818 - reads as the fact it states
    """The owner or the operator ended it, as its text says: what was not sent yet is not sent."""

    def __init__(self, reason: str, *, status: Status = Status.KILLED) -> None:
        super().__init__(reason)
        self.status = status

    @classmethod
    def by(cls, halted: Halted) -> Cancelled:
        """What a kill switch leads to, and a task that is there no more."""
        return cls(str(halted), status=Status.FAILED if isinstance(halted, Disabled) else Status.KILLED)


async def answer(house: House, run: Run) -> None:
    """Bring in a result for the first pending ticket. Raises `Cancelled`, `Later`, `Stale` or `Unavailable`."""
    ticket = run.pending[0]
    with spans.tool(house, run.execution, ticket) as span:
        result = await _result(house, run, ticket)
        spans.carried(span, ticket, result)
    run.counted(result)
    if not run.pending:
        run.answered()


async def withdraw(house: House, run: Run) -> None:
    """Bring every pending ticket to an end without sending any: cancelled where it was not sent.

    One that was sent is waited for (`Later`) until its deadline, and is in doubt after it.
    """
    if not run.pending:
        return
    # as the record has them: a call that was handed over may have been sent, or answered, without our hearing of it
    known = await house.executions.tickets(run.execution.id, first=run.pending[0].seq)
    for ticket in known[: len(run.pending)]:
        if ticket.state is TicketState.SETTLED and ticket.result is not None:
            run.counted(ticket.result)
        elif ticket.state is TicketState.SENT:
            _wait(house, ticket)
            run.counted(await _settled(house, run, ticket, refusal.in_doubt()))
        else:
            run.counted(await _settled(house, run, ticket, refusal.cancelled()))


async def _result(house: House, run: Run, ticket: Ticket) -> ToolCallResult:
    if ticket.state is TicketState.SETTLED and ticket.result is not None:
        return ticket.result
    remit = run.execution.remit
    assert remit is not None, "an opened execution has a remit"
    crossing = Crossing(execution=run.execution, ticket=ticket)
    again = ticket.state is TicketState.SENT
    if again:
        _wait(house, ticket)

    def admit(tool: Tool) -> None:
        if again:
            return  # it was admitted, and counted, when it was first sent; its tool knows whether it may be repeated
        repeats.admit(repeats.likeness(ticket.tool, ticket.shown), run.recent)
        now = house.clock.now()
        rate = run.execution.rate.admit(remit.plan, now) if tool.counts else run.execution.rate
        if run.execution.credits_used + fee_of(tool.name) > run.opening.max_credits:
            raise Refused(refusal.out_of_credits())
        run.execution = replace(run.execution, rate=rate)

    call = ToolCall(id=ticket.call, name=ticket.tool, arguments=ticket.shown)
    try:
        result = await house.registry.execute(call, crossing, enabled=remit.enabled, admit=admit)
    except Stale:
        await _explain(house, run)
        raise Unavailable("the call is already on its way under another delivery") from None
    if crossing.carried:
        return result
    return await house.executions.settle(run.execution, ticket.seq, _described(result, ticket), now=house.clock.now())


async def _explain(house: House, run: Run) -> None:
    """Why a tool did not take a call: raises `Stale` when the lease is gone, `Cancelled` when it was ended."""
    try:
        run.execution = await house.executions.renew(run.execution, now=house.clock.now(), lease=house.lease)
    except Halted as halted:
        raise Cancelled.by(halted) from None
    if run.execution.cancel_requested:
        raise Cancelled("cancelled")
    task = await house.tasks.get(run.execution.task)
    if task is None or not task.enabled:
        raise Cancelled(DISABLED, status=Status.FAILED)


def _wait(house: House, ticket: Ticket) -> None:
    """A call that was sent may still be under way until its deadline; nobody stands by for it."""
    now = house.clock.now()
    if ticket.deadline is not None and now < ticket.deadline:
        raise Later("a call of an earlier delivery may still be under way", after=ticket.deadline - now)


async def _settled(house: House, run: Run, ticket: Ticket, reason: Refusal) -> ToolCallResult:
    result = _described(ToolCallResult.refused(ticket.tool, reason), ticket)
    return await house.executions.settle(run.execution, ticket.seq, result, now=house.clock.now(), in_doubt=unknown(result))


def _described(result: ToolCallResult, ticket: Ticket) -> ToolCallResult:
    """`result` with what the call's arguments say of it, as far as they are what they should be."""
    shown = ticket.shown
    url, method, credential = (shown.get(name) for name in ("url", "method", "credential"))
    named = ticket.tool == AUTHENTICATED and isinstance(credential, str)
    return bounded(
        replace(
            result,
            url=url if isinstance(url, str) else None,
            method=method.upper() if isinstance(method, str) else None,
            credential_used=credential if named else None,
        )
    )
