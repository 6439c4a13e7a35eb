"""Alerts of an execution: enqueued when it ends, and once more for when they should be settled."""

from __future__ import annotations

from decimal import Decimal

from ferryman.alerts.dispatch import AlertDependencies, deliver
from ferryman.domain.delivery import OVERDUE
from ferryman.inmemory.alerts import MemoryAlertQueue, MemoryAlerts
from tests.alerts.test_dispatch import Sender

from .conftest import Stage, says


async def test_an_alert_whose_delivery_was_lost_is_sent_a_day_later_without_any_schedule(stage: Stage) -> None:
    stage.task(max_credits_month=Decimal(1))
    await stage.run(says("never"))
    (alert,) = stage.memory.alerts
    lost, overdue = stage.alerts.waiting
    assert (lost.alert, overdue.alert, overdue.after) == (alert, alert, OVERDUE)
    sender = Sender([None])
    deps = AlertDependencies(
        alerts=MemoryAlerts(stage.memory), queue=MemoryAlertQueue(), sender=sender, clock=stage.clock, tracer=stage.log
    )
    assert await deliver(deps, overdue.alert)
    assert sender.sent == [alert]


async def test_an_end_that_is_delivered_again_enqueues_its_alerts_no_more_often(stage: Stage) -> None:
    stage.task(max_credits_month=Decimal(1))
    await stage.run(says("never"))
    await stage.run(says("never"))
    assert len(stage.alerts.waiting) == 2
