"""The dispatch of alerts: the next attempt follows after a pause, and what the queue has lost is enqueued again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

from ferryman.alerts.dispatch import AlertDependencies, deliver, sweep
from ferryman.domain.delivery import OVERDUE, AlertState
from ferryman.inmemory.alerts import MemoryAlertQueue, MemoryAlerts, QueuedAlert
from ferryman.inmemory.clock import START, ManualClock
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.ports.errors import UnavailableError
from tests.domain.test_alert_message import ALERT


@dataclass
class Sender:
    """A key holder that answers in turn how many attempts were made, None for a settled alert, or not at all."""

    answers: list[int | Exception | None]
    sent: list[str] = field(default_factory=list)

    async def send(self, alert: str) -> int | None:
        self.sent.append(alert)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def build(
    sender: Sender, queue: MemoryAlertQueue, memory: Memory | None = None, clock: ManualClock | None = None
) -> AlertDependencies:
    return AlertDependencies(
        alerts=MemoryAlerts(memory or Memory()),
        queue=queue,
        sender=sender,
        clock=clock or ManualClock(),
        tracer=RecordingLog(),
    )


async def test_a_settled_alert_is_not_enqueued_again() -> None:
    queue = MemoryAlertQueue()
    assert await deliver(build(Sender([None]), queue), "alert_1")
    assert queue.waiting == []


async def test_one_that_was_not_taken_is_enqueued_for_after_its_pause() -> None:
    queue = MemoryAlertQueue()
    assert await deliver(build(Sender([2]), queue), "alert_1")
    assert queue.waiting == [QueuedAlert("alert_1", 2, timedelta(seconds=120))]


async def test_a_delivery_that_comes_twice_enqueues_the_next_attempt_once() -> None:
    queue = MemoryAlertQueue()
    deps = build(Sender([1, 1]), queue)
    assert await deliver(deps, "alert_1")
    assert await deliver(deps, "alert_1")
    assert len(queue.waiting) == 1


async def test_where_no_key_holder_answers_the_delivery_comes_again() -> None:
    deps = build(Sender([UnavailableError("away"), None]), MemoryAlertQueue())
    assert not await deliver(deps, "alert_1")
    assert await deliver(deps, "alert_1")


async def test_the_sweep_enqueues_what_should_have_been_settled() -> None:
    memory, clock = Memory(), ManualClock()
    settled = replace(ALERT, id="alert_2", state=AlertState.FAILED)
    recent = replace(ALERT, id="alert_3", created_at=START + timedelta(hours=2))
    memory.alerts.update((alert.id, alert) for alert in (ALERT, settled, recent))
    queue = MemoryAlertQueue()
    deps = build(Sender([]), queue, memory, clock)
    clock.turn(OVERDUE + timedelta(hours=1))
    await sweep(deps)
    await sweep(deps)
    assert [queued.alert for queued in queue.waiting] == ["alert_1"]
