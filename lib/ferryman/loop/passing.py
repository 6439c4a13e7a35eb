"""Passing in the loop: references become values with their labels before a call is journaled, and its result stays hidden.

The values are those of the journal, so that every delivery and every replay hands on the same, with the same labels.
"""

from __future__ import annotations

from dataclasses import replace

from ferryman.catalog.tools import PASSING, find_tool
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.calls.hidden import show_passed
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.calls.sub_calls import SubCalls
from ferryman.domain.flow.passing import resolve_arguments
from ferryman.domain.flow.values import drop_labels
from ferryman.loop.journal import Run


def follow_pass(run: Run, ticket: Ticket, requested: SubCalls) -> Ticket | SubCalls:
    """Return what becomes of a call that asks for others: of one that passes, its call with the values, or its result.

    Its result is a refusal where a reference leads to no value.
    """
    if find_tool(ticket.tool).kind != PASSING:
        return requested
    made = [result for result in run.results if result.parent == ticket.seq]
    if made:
        return replace(ticket, result=show_passed(ticket, made[-1], show=not requested.hidden))
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
