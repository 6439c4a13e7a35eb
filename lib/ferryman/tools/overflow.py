"""Overflows: what a key holder scans of an answer beyond what its result shows, in the time that is left of the call.

Another delivery may take the call over at its deadline, and would send it again: so nothing is scanned beyond that.
"""

from __future__ import annotations

import asyncio
from datetime import datetime

from ferryman import offload
from ferryman.catalog.tools import find_tool, is_kept
from ferryman.domain.calls.call import SETTLING_TIME, ToolCallResult, limit_result
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.files.kept import UNCHECKED, Overflow, build_overflow, tell_unkept
from ferryman.ports.gate import LongAnswer
from ferryman.ports.tickets import ClaimedCall

SCANNING_S = 20.0
"""How long an answer may be scanned at most, in a dozen windows."""


async def read_overflow(
    claimed_call: ClaimedCall, long: LongAnswer, result: ToolCallResult, *, now: datetime
) -> tuple[ToolCallResult, Overflow | None]:
    """Return the result, and what is to be kept of its answer; None where the result shows all of it, or nothing is kept.

    Where there is more that cannot be kept, the result says why.
    """
    ticket = claimed_call.ticket
    if long.scan is None or not result.ok or not is_kept(ticket.tool, claimed_call.policy):
        return result, None
    assert ticket.deadline is not None, "a claimed ticket has a deadline"
    left_s = (ticket.deadline - SETTLING_TIME - now).total_seconds()
    try:
        async with asyncio.timeout(max(0.0, min(left_s, SCANNING_S))):
            read = await long.scan()
    except (TimeoutError, CallRefusedError, offload.JobFailedError):
        return tell_unkept(result, UNCHECKED), None
    if read.text is None:
        return tell_unkept(result, "it is not text all through"), None
    most = limit_result(find_tool(ticket.tool).policy)
    if len(read.text) <= most and not read.is_cut:
        return result, None
    return result, build_overflow(result, read.text, most=most, is_cut=read.is_cut, is_part=read.is_part)
