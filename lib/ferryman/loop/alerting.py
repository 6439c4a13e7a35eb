"""Alerts of caps that an execution took further, or that refused it: enqueued, for those who send them."""

from __future__ import annotations

from collections.abc import Iterable

from ferryman.domain.delivery import OVERDUE
from ferryman.domain.executions.execution import Execution
from ferryman.loop.dependencies import LoopDependencies


async def enqueue_alerts(deps: LoopDependencies, execution: Execution, alerts: Iterable[str]) -> None:
    """Have alerts of `execution` sent. A delivery that dies before comes again, and finds which were not.

    Each is enqueued a second time for when it should be settled: what the queue has lost by then is sent without a sweep, which
    ends where no task has a schedule. The delivery of a settled alert reads it, and sends nothing.
    """
    for alert in alerts:
        deps.log("budget.alert", execution=execution.id, owner=execution.owner, alert=alert, severity="WARNING")
        await deps.alerts.enqueue(alert)
        await deps.alerts.enqueue(alert, after=OVERDUE, wake_up="overdue")


async def enqueue_notice(deps: LoopDependencies, approval: str) -> None:
    """Have the address of the workspace's alerts told that a call waits for a person: once, however often this is done."""
    await deps.alerts.enqueue(approval)
    await deps.alerts.enqueue(approval, after=OVERDUE, wake_up="overdue")
