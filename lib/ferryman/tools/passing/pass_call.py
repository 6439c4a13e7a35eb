"""The tool `pass`: it asks for one other call, whose arguments may refer to results that the model does not read."""

from __future__ import annotations

from dataclasses import replace

from ferryman.catalog.tools import PASSING, QUARANTINES
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket, ToolCall, ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.calls.sub_calls import SubCalls
from ferryman.domain.executions.execution import Execution
from ferryman.domain.flow.passing import read_passed


async def ask_for_call(ticket: Ticket, *, execution: Execution) -> Ticket | SubCalls:  # noqa: ARG001 - a handler's signature
    """Return the call that it asks for, with its references as they are written, or the ticket with a refusal.

    It asks for the same each time that it is executed: the loop knows whether that call was made.
    """
    if ticket.redacted:
        return replace(ticket, result=ToolCallResult.from_refusal(ticket.tool, refusal.LEAK_IN_ARGUMENTS))
    try:
        passed = read_passed(ticket.display_arguments, name=ticket.tool, barred=QUARANTINES)
    except CallRefusedError as refused:
        return replace(ticket, result=ToolCallResult.from_refusal(ticket.tool, refused.refusal))
    call = ToolCall(id=f"{ticket.call}_{PASSING}", name=passed.tool, arguments=passed.arguments)
    return SubCalls((call,), hidden=not passed.show)
