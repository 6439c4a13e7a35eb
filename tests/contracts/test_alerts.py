"""Alerts: created by the commit that takes a cap over a threshold or refuses an execution, each once, and settled once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman.domain.credits import ledger
from ferryman.domain.credits.alert import Alert
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.delivery import AlertState, settle_attempt
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.owners.cap import Cap, CapKind

from .conftest import Stores
from .values import DONE, EXECUTION, LATER, LEASE, NOW, OPENING, POLICY, put

CAP = Cap(kind=CapKind.AGENT, id=EXECUTION.agent, credits=Decimal(200))
LIMITED = replace(POLICY, caps=(CAP,))
SMALLER = replace(POLICY, caps=(replace(CAP, credits=Decimal(150)),))


async def start(stores: Stores, name: str, *, policy: ExecutionPolicy = LIMITED) -> Execution:
    """Return an execution with 100 credits reserved."""
    await put(stores.tasks, stores.executions, replace(EXECUTION, id=name))
    claimed, _ = await stores.executions.claim(name, slice=0, holder="h", now=NOW, lease=LEASE)
    execution = replace(claimed, policy=policy)
    await stores.executions.open(execution, OPENING, entry=ledger.record_reservation(execution, Decimal(100), at=NOW), now=NOW)
    return replace(execution, credits_reserved=Decimal(100))


async def finish(stores: Stores, execution: Execution, used: int) -> list[str]:
    """Return the ids of the alerts with which an execution ends that has used so many credits."""
    ended = replace(execution, credits_used=Decimal(used))
    entry = ledger.record_release(ended, tokens=Decimal(used), rest=Decimal(100 - used), at=LATER)
    alerts = await stores.executions.finish(ended, replace(DONE, entry=entry), now=LATER)
    assert alerts is not None
    return list(alerts)


async def read(stores: Stores, workspace: str = EXECUTION.workspace) -> list[Alert]:
    return list(await stores.alerts.list("ann", workspace))


async def test_an_end_that_takes_a_cap_over_thresholds_stores_their_alerts(stores: Stores) -> None:
    first = await start(stores, "exec_1")
    second = await start(stores, "exec_2")
    assert await finish(stores, first, used=99) == []
    alerts = await finish(stores, second, used=62)
    stored = await read(stores)
    assert {(alert.percent, alert.execution, alert.credits_used) for alert in stored} == {
        (50, "exec_2", Decimal(161)),
        (80, "exec_2", Decimal(161)),
    }
    assert (
        sorted(alerts) == sorted(alert.id for alert in stored) == sorted(await stores.executions.list_unsent_alerts("exec_2"))
    )
    assert {await stores.alerts.get(name) for name in alerts} == set(stored)


async def test_a_cap_that_refuses_executions_alerts_of_it_once(stores: Stores) -> None:
    small = replace(POLICY, caps=(replace(CAP, credits=Decimal(99)),))
    names = []
    for name in ("exec_1", "exec_2"):
        with pytest.raises(InsufficientCreditsError) as refused:
            await start(stores, name, policy=small)
        names.append(refused.value.alert)
    (alert,) = await read(stores)
    assert names == [alert.id, alert.id]  # until it is sent, who is refused has it enqueued again
    assert (alert.percent, alert.is_refused, alert.execution) == (100, True, "exec_1")
    await stores.alerts.record(settle_attempt(alert, status=200, reason="", final=False, now=LATER))
    with pytest.raises(InsufficientCreditsError) as refused:
        await start(stores, "exec_3", policy=small)
    assert refused.value.alert == ""


async def test_an_alert_of_the_plan_is_listed_with_no_workspace(stores: Stores) -> None:
    plan = replace(POLICY.plan, credits_per_month=Decimal(150))
    execution = await start(stores, "exec_1", policy=replace(POLICY, plan=plan))
    await finish(stores, execution, used=80)
    assert await read(stores) == []
    (alert,) = await read(stores, workspace="")
    assert (alert.kind, alert.percent) == (CapKind.OWNER, 50)


async def test_of_two_attempts_at_once_one_is_recorded(stores: Stores) -> None:
    await finish(stores, await start(stores, "exec_1", policy=SMALLER), used=80)
    (alert,) = await read(stores)
    failed = settle_attempt(alert, status=500, reason="", final=False, now=LATER)
    assert await stores.alerts.record(failed) == failed
    assert await stores.alerts.record(settle_attempt(alert, status=200, reason="", final=False, now=LATER)) == failed
    delivered = settle_attempt(failed, status=200, reason="", final=False, now=LATER)
    assert await stores.alerts.record(delivered) == delivered
    assert await stores.alerts.record(settle_attempt(delivered, status=500, reason="", final=True, now=LATER)) == delivered
    assert await stores.executions.list_unsent_alerts("exec_1") == ()


async def test_an_alert_that_there_is_not_cannot_be_recorded(stores: Stores) -> None:
    await finish(stores, await start(stores, "exec_1", policy=SMALLER), used=80)
    (alert,) = await read(stores)
    with pytest.raises(KeyError):
        await stores.alerts.record(replace(alert, id="alert_none"))
    assert await stores.alerts.get("alert_none") is None


async def test_those_that_are_overdue_are_pending_and_old(stores: Stores) -> None:
    await finish(stores, await start(stores, "exec_1"), used=100)
    await finish(stores, await start(stores, "exec_2"), used=60)
    half, most = sorted(await read(stores), key=lambda alert: alert.percent)
    assert sorted(await stores.alerts.overdue(before=LATER + timedelta(seconds=1), most=9)) == sorted((half.id, most.id))
    assert list(await stores.alerts.overdue(before=LATER, most=9)) == []
    await stores.alerts.record(settle_attempt(half, status=200, reason="", final=False, now=LATER))
    assert list(await stores.alerts.overdue(before=LATER + timedelta(seconds=1), most=9)) == [most.id]


async def test_a_page_goes_on_where_the_one_before_ended(stores: Stores) -> None:
    await finish(stores, await start(stores, "exec_1"), used=100)
    await finish(stores, await start(stores, "exec_2"), used=60)
    first = await stores.alerts.list("ann", EXECUTION.workspace, most=1)
    second = await stores.alerts.list("ann", EXECUTION.workspace, most=1, after=first.end)
    assert {*first, *second} == set(await read(stores))
    assert second.end is None
    assert [alert.state for alert in (*first, *second)] == [AlertState.PENDING] * 2
