"""Calls of one turn that run beside each other (S3-6): where the surface allows it, and the tools do.

The limits are judged in call order before any call is sent, and the results are counted in call order: whatever order they come
in, every delivery and every replay sees the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import Ticket
from ferryman.domain.calls.sub_calls import SubCalls
from ferryman.domain.executions.postponement import Postponement
from ferryman.loop import spans
from ferryman.loop.calls import count_results, execute_next, settle_call
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.journal import Run
from ferryman.loop.limits import CallTally

TOGETHER_MAX = 8
"""How many calls of an execution are under way at once."""


async def execute_pending(deps: LoopDependencies, run: Run) -> Postponement | None:
    """Execute the first pending call, with those behind it that may run beside it, and count their results.

    Return a postponement where an earlier attempt of one may still run. Raise `ExecutionCancelledError`, `StaleError` or
    `UnavailableError`, once none of them is waited for any longer.
    """
    group = select_together(run)
    if len(group) < 2:
        return await execute_next(deps, run)
    tally = CallTally.begin(run, deps.clock.now)
    outcomes = await asyncio.gather(*(_execute(deps, run, ticket, tally) for ticket in group), return_exceptions=True)
    settled: list[Ticket] = []
    for outcome in outcomes:
        if not isinstance(outcome, Ticket):
            break
        settled.append(outcome)
    count_results(run, settled)
    if len(settled) == len(outcomes):
        return None
    first = outcomes[len(settled)]
    if isinstance(first, BaseException):
        raise first
    if isinstance(first, Postponement):
        return first
    return await execute_next(deps, run)  # it asks for other calls: it is executed alone, now that it is the first


def select_together(run: Run) -> Sequence[Ticket]:
    """Return the first pending calls as far as they may run beside each other: those that only read."""
    group: list[Ticket] = []
    if not run.execution.surface.runs_parallel:
        return group
    for ticket in run.pending[:TOGETHER_MAX]:
        if ticket.parent is not None or not find_tool(ticket.tool).policy.parallel_safe:
            break
        group.append(ticket)
    return group


async def _execute(deps: LoopDependencies, run: Run, ticket: Ticket, tally: CallTally) -> Ticket | Postponement | SubCalls:
    with spans.open_tool_span(deps, run.execution, ticket) as span:
        outcome = await settle_call(deps, run, ticket, tally)
        if isinstance(outcome, Ticket):
            spans.record_result(span, outcome)
        return outcome
