"""Dispatch: have a key holder send an alert, and enqueue the next attempt where its receiver did not take it.

An alert is sent at least once, each time with the same id, so that a receiver can tell a repetition.
"""

from __future__ import annotations

from dataclasses import dataclass

from ferryman.domain.delivery import OVERDUE, compute_pause
from ferryman.ports.alerts import AlertQueue, Alerts, AlertSender
from ferryman.ports.clock import Clock
from ferryman.ports.errors import UnavailableError
from ferryman.ports.log import Tracer

SWEPT_MAX = 100
"""How many alerts one sweep enqueues again; the next one finds the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertDependencies:
    """Everything that the delivery of alerts uses."""

    alerts: Alerts
    queue: AlertQueue
    sender: AlertSender
    clock: Clock
    tracer: Tracer


async def deliver(deps: AlertDependencies, alert: str) -> bool:
    """Have `alert` sent once. Return whether the queue may drop this delivery; False has it delivered again.

    The process may die at any line: the queue then delivers this attempt again, and what was sent has the same id.
    """
    try:
        attempts = await deps.sender.send(alert)
        if attempts is not None:
            await deps.queue.enqueue(alert, attempt=attempts, after=compute_pause(attempts))
    except UnavailableError as error:
        deps.tracer.line("alert.paused", alert=alert, reason=str(error))
        return False
    deps.tracer.line("alert.dispatched", alert=alert, again=attempts is not None)
    return True


async def sweep(deps: AlertDependencies) -> None:
    """Enqueue alerts again that should have been settled by now: the queue has lost them. Raise `UnavailableError`."""
    now = deps.clock.now()
    lost = await deps.alerts.overdue(before=now - OVERDUE, most=SWEPT_MAX)
    for alert in lost:
        await deps.queue.enqueue(alert, wake_up=f"sweep-{now:%Y%m%d%H}")
    if lost:
        deps.tracer.line("alert.swept", alerts=len(lost), severity="WARNING")
