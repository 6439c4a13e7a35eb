"""Alerts: a cap of which 50, 80 or 100 percent are used, each told once in a month; and a cap that refuses an execution."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from ferryman.domain.credits.balance import CreditBalance, list_caps
from ferryman.domain.credits.shortage import Shortage
from ferryman.domain.delivery import AlertState
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.cap import Cap, CapKind

THRESHOLDS = (50, 80, 100)
"""Percent of a cap."""

LIFETIME = timedelta(days=400)
"""How long an alert is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """An alert. It names everything by id. Only the id of a conversation is a text that its starter chose.

    `workspace` is "" for the cap of the owner's plan: no workspace is told of it. `subject` is the id of the cap, `limit`
    its credits a month. `is_refused` tells that an execution was refused, for which the cap left too little; then `percent` is
    100, whatever is used. `status` is the HTTP status of the last attempt, None where there was no answer, and `reason` our own
    text about it.
    """

    id: str
    owner: str
    workspace: str
    kind: CapKind
    subject: str
    limit: Decimal
    percent: int
    credits_used: Decimal
    credits_reserved: Decimal
    month: str
    is_refused: bool = False
    execution: str
    created_at: datetime
    state: AlertState = AlertState.PENDING
    attempts: int = 0
    status: int | None = None
    reason: str = ""
    settled_at: datetime | None = None


def find_crossed(before: Decimal, after: Decimal, limit: Decimal) -> tuple[int, ...]:
    """Return the `THRESHOLDS` of `limit` that are reached with `after` credits used, and were not with `before`."""
    return tuple(percent for percent in THRESHOLDS if before * 100 < percent * limit <= after * 100)


def find_alerts(before: CreditBalance, after: CreditBalance, execution: Execution, *, now: datetime) -> tuple[Alert, ...]:
    """Return the alerts of the caps of `execution` for which its end moves its owner's balance from `before` to `after`."""
    alerts = []
    for cap in list_caps(execution.policy):
        was, is_now = before.get_part(cap), after.get_part(cap)
        alerts += [
            _build_alert(
                execution,
                cap,
                percent,
                month=after.month,
                credits_used=is_now.credits_used,
                credits_reserved=is_now.credits_reserved,
                now=now,
            )
            for percent in find_crossed(was.credits_used, is_now.credits_used, cap.credits)
        ]
    return tuple(alerts)


def build_refusal_alert(shortage: Shortage, execution: Execution, balance: CreditBalance, *, now: datetime) -> Alert:
    """Return the alert of a cap that refuses `execution`: the one of 100 percent, where that was not told before."""
    counts = balance.get_part(shortage.cap)
    return _build_alert(
        execution,
        shortage.cap,
        THRESHOLDS[-1],
        month=balance.month,
        credits_used=counts.credits_used,
        credits_reserved=counts.credits_reserved,
        is_refused=True,
        now=now,
    )


def _build_alert(
    execution: Execution,
    cap: Cap,
    percent: int,
    *,
    month: str,
    credits_used: Decimal,
    credits_reserved: Decimal,
    now: datetime,
    is_refused: bool = False,
) -> Alert:
    is_plan = cap.kind is CapKind.OWNER
    # the same cap reaches the same part of the same limit once a month, whichever execution takes it there
    identity = (execution.owner, cap.part if not is_plan else "plan", month, str(percent), str(cap.credits.normalize()))
    return Alert(
        id=f"alert_{hashlib.sha256(repr(identity).encode()).hexdigest()[:30]}",
        owner=execution.owner,
        workspace="" if is_plan else execution.workspace,
        kind=cap.kind,
        subject=cap.id,
        limit=cap.credits,
        percent=percent,
        credits_used=credits_used,
        credits_reserved=credits_reserved,
        month=month,
        is_refused=is_refused,
        execution=execution.id,
        created_at=now,
    )


def select_pending(alerts: Sequence[Alert]) -> tuple[str, ...]:
    """Return the ids of those `alerts` that are still to be sent."""
    return tuple(alert.id for alert in alerts if alert.state is AlertState.PENDING)
