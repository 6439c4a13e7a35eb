"""Passing in the loop: references become values with their labels before a call is journaled, and its result stays hidden.

The values are those of the journal, so that every delivery and every replay hands on the same, with the same labels.
"""

from __future__ import annotations

from dataclasses import replace

from ferryman.catalog.tools import EXTRACTING, PASSING, find_tool
from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.calls.hidden import show_passed
from ferryman.domain.calls.refusal import CallRefusedError, refuse_reference
from ferryman.domain.calls.sub_calls import SubCalls
from ferryman.domain.flow.passing import resolve_arguments
from ferryman.domain.flow.values import drop_labels, read_reference
from ferryman.loop.journal import Run


def refuse_source(run: Run, ticket: Ticket) -> Ticket | None:
    """Return the refusal of an extraction whose source is no result that the journal has; None for any other call."""
    if find_tool(ticket.tool).kind != EXTRACTING or ticket.state is not TicketState.INTENDED:
        return None
    reference = read_reference(ticket.display_arguments.get("from"))
    if reference is None or run.find_value(reference.call) is not None:
        return None
    return replace(ticket, result=ToolCallResult.from_refusal(ticket.tool, refuse_reference(reference.call)))


def follow_pass(run: Run, ticket: Ticket, requested: SubCalls) -> Ticket | SubCalls:
    """Return what becomes of a call that asks for others: of one that passes, its call with the values, or its result.

    Its result is a refusal where a reference leads to no value.
    """
    if find_tool(ticket.tool).kind != PASSING:
        return requested
    results = [result for result in run.results if result.parent == ticket.seq]
    if results:
        return replace(ticket, result=show_passed(ticket, results[-1], show=not requested.hidden))
    (call,) = requested.calls
    try:
        labelled = resolve_arguments(call.arguments, run.find_value)
    except CallRefusedError as refused:
        return replace(ticket, result=ToolCallResult.from_refusal(ticket.tool, refused.refusal))
    return replace(
        requested,
        calls=(replace(call, arguments=drop_labels(labelled)),),
        labelled=(replace(call, arguments=labelled),),
    )
