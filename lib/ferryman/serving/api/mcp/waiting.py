"""Waiting for an execution: until it has ended or waits for a person, with progress, and for a bounded time."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from ferryman.composition.api import ApiDependencies
from ferryman.domain.approvals.approval import ApprovalState
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Execution
from ferryman.domain.workspaces.member import Right
from ferryman.serving.api.access import build_unauthorized_error, get_plan
from ferryman.serving.api.revocation import still_has_right
from ferryman.serving.api.rights import Caller
from ferryman.serving.mcp.exchange import McpExchange

MOMENT_S = 1.0
"""What takes longer becomes a task, where the client takes tasks."""


async def wait(
    deps: ApiDependencies, caller: Caller, execution: Execution, exchange: McpExchange, *, within_s: float
) -> Execution:
    """Return the execution as it is once it has ended or waits for a person, or after `within_s` seconds.

    One whose owner has as many streams open as the plan allows is not waited for. Raise 401 where the key was revoked
    meanwhile.
    """
    current, owner = execution, caller.owner.id
    if await is_settled(deps, current) or within_s <= 0 or deps.watchers[owner] >= get_plan(deps, caller.owner).streams:
        return current
    deps.watchers[owner] += 1
    try:
        async with asyncio.timeout(within_s), aclosing(deps.hub.watch(execution)) as snapshots:  # type: ignore[type-var] # a generator, as all of them are
            async for snapshot in snapshots:
                current = snapshot.execution
                await _report(exchange, snapshot)
                if await is_settled(deps, current):
                    break
    except TimeoutError:
        pass
    finally:
        deps.watchers[owner] -= 1
        if not deps.watchers[owner]:
            del deps.watchers[owner]
    if not await still_has_right(deps, caller, Right.READ):
        raise build_unauthorized_error()
    return current


async def is_settled(deps: ApiDependencies, execution: Execution) -> bool:
    """Tell whether nothing happens any more unless a person decides."""
    return execution.status.terminal or await waits_for_person(deps, execution)


async def waits_for_person(deps: ApiDependencies, execution: Execution) -> bool:
    """Tell whether a person has yet to decide: what is decided goes on, though the execution may not have begun to."""
    if execution.status.terminal or not execution.waiting_for:
        return False
    approval = await deps.approvals.get(execution.waiting_for)
    return approval is not None and approval.state is ApprovalState.PENDING and deps.clock.now() < approval.expires_at


async def _report(exchange: McpExchange, snapshot: WatchedAnswer) -> None:
    execution = snapshot.execution
    settled = sum(ticket.result is not None for ticket in snapshot.tickets.values())
    if execution.status.terminal:
        message = f"it has ended: {execution.status.value}"
    elif execution.waiting_for:
        message = "a person has to decide about a call"
    else:
        message = f"{len(snapshot.steps)} turns, {settled} of {len(snapshot.tickets)} calls"
    # events only grow, and the end has one of its own
    await exchange.report_progress(execution.events + settled, message=message)
