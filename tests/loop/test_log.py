"""The log of a delivery: a line for what an operator has to know, with the execution it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.execution import Lease, Status
from ferryman.domain.executions.occupancy import Occupancy, compute_pause
from ferryman.domain.owners.plan import PRO
from ferryman.domain.stale import StaleError
from ferryman.inmemory.clock import START
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.queue import MemoryQueue
from ferryman.loop.run import deliver
from ferryman.ports.errors import UnavailableError
from tests.builders import build_execution

from .conftest import Stage, fetches, says

Line = tuple[str, dict[str, Any]]
ENDED = ("delivery.ended", {"execution": "e", "slice": 0, "ran_s": 0.0, "again": False})
AGAIN = ("delivery.ended", {"execution": "e", "slice": 0, "ran_s": 0.0, "again": True})
FULL = ("delivery.paused", {"execution": "e", "reason": "the queue is full"})


class FullQueue(MemoryQueue):
    """A queue that takes nothing."""

    async def enqueue(self, *_: object, **__: object) -> None:
        raise UnavailableError("the queue is full")


def crowd(stage: Stage) -> None:
    """Run as many executions of the owner as may run."""
    until = START + timedelta(hours=1)
    for number in range(PRO.executions_running):
        lease = Lease(holder="x", epoch=1, expires_at=until)
        running = build_execution(id=f"running{number}", status=Status.RUNNING, lease=lease)
        stage.memory.executions[running.id] = running
        stage.memory.occupancy["o"] = stage.memory.occupancy.get("o", Occupancy()).run(running)


async def test_an_execution_that_completes_is_logged_turn_by_turn(stage: Stage) -> None:
    def on_call(ticket: Any) -> ToolCallResult:
        stage.clock.turn(1.5)
        return ToolCallResult(ticket.tool, "", response_status=200)

    stage.on_call = on_call
    await stage.run(fetches(2), says("done"))
    assert stage.log.lines == [
        ("turn", {"execution": "e", "step": 1, "calls": 2, "stop_reason": "tool_use"}),
        ("turn", {"execution": "e", "step": 2, "calls": 0, "stop_reason": "end_turn"}),
        ("execution.finished", {"execution": "e", "status": "completed", "credits": str(stage.execution.credits_used)}),
        ("delivery.ended", {"execution": "e", "slice": 0, "ran_s": 3.0, "again": False}),
    ]


async def test_a_delivery_of_an_unknown_execution_is_logged(stage: Stage) -> None:
    assert await deliver(stage.deps(), "another", slice=0, holder="h")
    assert stage.log.lines == [("delivery.unknown", {"execution": "another"})]


async def test_a_delivery_that_cannot_be_claimed_is_logged_as_paused(stage: Stage) -> None:
    class Unavailable(MemoryExecutions):
        async def claim(self, *_: object, **__: object) -> Any:
            raise UnavailableError("no answer")

    deps = replace(stage.deps(), executions=Unavailable(stage.memory))
    assert not await deliver(deps, "e", slice=0, holder="h")
    assert stage.log.lines == [("delivery.paused", {"execution": "e", "reason": "no answer"})]


async def test_a_lost_lease_is_logged(stage: Stage) -> None:
    assert not await stage.run(StaleError("another has it"))
    assert stage.log.lines == [("lease.lost", {"execution": "e", "severity": "WARNING"}), AGAIN]


async def test_a_delivery_that_comes_again_is_logged_with_the_reason(stage: Stage) -> None:
    assert not await stage.run(UnavailableError("busy"))
    assert stage.log.lines == [("delivery.paused", {"execution": "e", "reason": "busy"}), AGAIN]


async def test_a_delivery_that_finds_no_slot_is_logged_with_its_pause(stage: Stage) -> None:
    crowd(stage)
    await deliver(stage.deps(), "e", slice=4, holder="h", waits=3)
    after = compute_pause(stage.execution, queued=0, waits=3)
    fields = {"execution": "e", "slice": 4, "after_s": after.total_seconds(), "waits": 3}
    assert stage.log.lines == [("delivery.put_back", fields)]
    assert [(delivery.slice, delivery.after, delivery.waits) for delivery in stage.queue.waiting] == [(4, after, 4)]


async def test_one_that_cannot_be_put_back_is_logged_with_the_reason(stage: Stage) -> None:
    crowd(stage)
    stage.queue = FullQueue()
    assert not await deliver(stage.deps(), "e", slice=0, holder="h")
    assert stage.log.lines == [FULL]


async def test_a_slot_that_cannot_be_passed_on_is_logged(stage: Stage) -> None:
    waiting = build_execution(id="waiting", created_at=START - timedelta(seconds=9))
    stage.memory.occupancy["o"] = Occupancy().enqueue(waiting, most=9)
    stage.queue = FullQueue()
    assert await stage.run(says("done"))
    fields = {"owner": "o", "reason": "the queue is full", "severity": "WARNING"}
    assert stage.log.lines[-2:] == [("slot.not_passed_on", fields), ENDED]


async def test_the_end_of_a_slice_is_logged_with_when_and_why_the_next_one_comes(stage: Stage) -> None:
    assert await stage.run(UnavailableError("busy", after_s=60))
    fields = {"execution": "e", "slice": 1, "after_s": 60.0, "reason": "busy"}
    assert stage.log.lines == [("slice.over", fields), ENDED]


async def test_a_slice_that_cannot_be_handed_over_comes_again(stage: Stage) -> None:
    stage.queue = FullQueue()
    assert not await stage.run(UnavailableError("busy", after_s=60))
    assert stage.log.lines == [FULL, AGAIN]


async def test_a_call_that_may_be_under_way_is_named_as_the_reason_of_the_next_slice(stage: Stage) -> None:
    stage.on_call = lambda _: UnavailableError("gone")
    await stage.run(fetches())
    assert await stage.run()
    fields = {"execution": "e", "slice": 1, "after_s": 35.0, "reason": "a call of an earlier delivery may still be under way"}
    assert ("slice.over", fields) in stage.log.lines


FAULT = ("execution.fault", {"execution": "e", "kind": "RuntimeError", "severity": "ERROR"})


async def test_a_fault_is_logged_by_its_kind_alone(stage: Stage) -> None:
    assert await stage.run(RuntimeError("ours"))
    assert stage.log.lines[0] == FAULT


async def test_a_fault_while_the_calls_are_withdrawn_is_logged_too(stage: Stage) -> None:
    class Faulty(MemoryExecutions):
        async def tickets(self, execution: str, *, first: int = 0) -> Any:
            if first == 0 and stage.memory.tickets.get("e"):
                raise ValueError
            return await super().tickets(execution, first=first)

    stage.on_call = lambda _: RuntimeError("ours")
    deps = stage.deps
    stage.deps = lambda: replace(deps(), executions=Faulty(stage.memory))  # type: ignore[method-assign]
    assert await stage.run(fetches())
    withdrawing = ("execution.fault", {"execution": "e", "kind": "ValueError", "severity": "ERROR"})
    assert [line for line in stage.log.lines if line[0] == "execution.fault"] == [FAULT, withdrawing]


async def test_a_record_that_cannot_be_stored_whole_is_logged(stage: Stage) -> None:
    class Narrow(MemoryExecutions):
        async def finish(self, execution: Any, ending: Any, *, now: Any) -> Any:
            if execution.tool_calls:
                raise ValueError
            return await super().finish(execution, ending, now=now)

    deps = stage.deps
    stage.deps = lambda: replace(deps(), executions=Narrow(stage.memory))  # type: ignore[method-assign]
    assert await stage.run(fetches(), says("done"))
    fields = {"execution": "e", "kind": "ValueError", "severity": "ERROR"}
    assert ("execution.unrecordable", fields) in stage.log.lines
    assert (stage.execution.tool_calls, stage.execution.output) == ((), None)


async def test_a_reply_that_costs_more_than_is_left_is_logged_with_what_was_charged(stage: Stage) -> None:
    stage.task(max_credits=Decimal(20))
    await stage.run(says("done", tokens=5_000_000))
    fields = {"execution": "e", "cost": "90000", "charged": "20", "severity": "WARNING"}
    assert [(name, {**line, "cost": str(round(Decimal(line["cost"])))}) for name, line in stage.log.lines[:1]] == [
        ("credits.capped", fields)
    ]


@pytest.mark.parametrize("status", [Status.COMPLETED, Status.KILLED])
async def test_a_delivery_of_an_execution_that_has_ended_logs_nothing(stage: Stage, status: Status) -> None:
    stage.start(status=status)
    assert await stage.run()
    assert stage.log.lines == []
