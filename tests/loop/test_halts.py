"""The kill switch: what runs ends, and what is under way is broken off."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.halting import HaltWatch
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts
from ferryman.ports.errors import CancelRequestedError, HaltedError, UnavailableError
from ferryman.ports.halts import Stoppable
from tests.builders import build_execution
from tests.loop.conftest import fetches, says

SOON = timedelta(milliseconds=1)
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def build_watch(memory: Memory) -> HaltWatch:
    return HaltWatch(MemoryHalts(memory), RecordingLog(), every=SOON)


class CountedHalts(MemoryHalts):
    """Switches in memory that note of which executions they were read."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.read: list[set[Stoppable]] = []
        self.thrice = asyncio.Event()

    async def find_halt_reasons(self, executions: Collection[Stoppable]) -> Mapping[Stoppable, str]:
        self.read.append(set(executions))
        if len(self.read) == 3:
            self.thrice.set()
        return await super().find_halt_reasons(executions)


class HangingHalts(MemoryHalts):
    """Switches that cannot be read: nothing answers."""

    async def find_halt_reasons(self, _: object) -> Mapping[Stoppable, str]:
        return await asyncio.Event().wait() and {}


class FailingHalts(MemoryHalts):
    """Switches that cannot be read: it fails."""

    async def find_halt_reasons(self, _: object) -> Mapping[Stoppable, str]:
        raise RuntimeError


@pytest.mark.parametrize(
    ("whose", "words"), [("o", "stopped by its owner's kill switch"), (None, "stopped by the operator's kill switch")]
)
async def test_no_further_model_call_is_made(stage, whose, words):
    def on_call(ticket):
        stage.memory.halts.add(whose)
        return ToolCallResult(ticket.tool, "sent", response_status=200)

    stage.on_call = on_call
    await stage.run(fetches(), says("never"))
    assert (stage.execution.status, stage.execution.error, len(stage.model.prompts)) == (Status.KILLED, words, 1)


async def test_no_further_call_is_sent(stage):
    def on_call(ticket):
        stage.memory.halts.add("o")
        return ToolCallResult(ticket.tool, "sent", response_status=200)

    stage.on_call = on_call
    await stage.run(fetches(3), says("never"))
    assert [result.block_reason for result in stage.results] == [None, "cancelled", "cancelled"]


async def test_another_owners_switch_stops_nothing(stage):
    stage.memory.halts.add("somebody else")
    await stage.run(says("done"))
    assert stage.execution.status is Status.COMPLETED


async def test_work_under_way_is_broken_off(stage):
    memory, ended = Memory(), asyncio.Event()

    async def work() -> None:
        memory.halts.add("o")
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(HaltedError):
        await build_watch(memory).run(work(), "o", created=NOW)
    assert ended.is_set()


async def test_a_model_call_that_was_broken_off_is_charged_at_its_worst(stage):
    class Silent:
        async def reply(self, prompt):
            stage.memory.halts.add("o")
            await asyncio.Event().wait()

    stage.model = Silent()
    async with asyncio.timeout(60):
        await stage.run()
    lost = type(stage)()
    await lost.run(UnavailableError("gone", lost=True))
    lost.memory.halts.add("o")
    await lost.run()
    assert stage.execution.status is lost.execution.status is Status.KILLED
    assert stage.execution.credits_used == lost.execution.credits_used > Decimal(0)


async def test_what_answers_before_the_first_look_is_answered(stage):
    memory = Memory()
    memory.halts.add("o")

    async def work() -> str:
        return "done"

    assert await HaltWatch(MemoryHalts(memory), RecordingLog()).run(work(), "o", created=NOW) == "done"


async def test_a_look_that_hangs_holds_up_no_answer():
    async def work() -> str:
        await asyncio.sleep(0.01)
        return "done"

    assert await HaltWatch(HangingHalts(Memory()), RecordingLog(), every=SOON).run(work(), "o", created=NOW) == "done"


async def test_a_look_that_fails_breaks_nothing_off():
    async def work() -> str:
        await asyncio.sleep(0.01)
        return "done"

    assert await HaltWatch(FailingHalts(Memory()), RecordingLog(), every=SOON).run(work(), "o", created=NOW) == "done"


async def test_switches_that_cannot_be_read_are_told_once_and_again_when_they_can():
    class Outage(CountedHalts):
        """Switches that cannot be read twice."""

        async def find_halt_reasons(self, executions: Collection[Stoppable]) -> Mapping[Stoppable, str]:
            reasons = await super().find_halt_reasons(executions)
            if len(self.read) < 3:
                raise TimeoutError
            return reasons

    log, halts = RecordingLog(), Outage(Memory())
    await HaltWatch(halts, log, every=SOON).run(halts.thrice.wait(), "o", created=NOW)
    assert log.lines[:1] == [("halts.unread", {"severity": "ERROR", "error": "TimeoutError"})]
    assert len(log.lines) == len({*(event for event, _ in log.lines)})


async def test_forty_executions_share_each_poll():
    halts, ended = CountedHalts(Memory()), asyncio.Event()
    watch = HaltWatch(halts, RecordingLog(), every=timedelta(milliseconds=20))
    running = [asyncio.ensure_future(watch.run(ended.wait(), f"owner_{n}", created=NOW)) for n in range(40)]
    await halts.thrice.wait()
    ended.set()
    await asyncio.gather(*running)
    assert halts.read[:3] == [{(f"owner_{n}", NOW) for n in range(40)}] * 3


async def test_a_poll_that_all_share_breaks_off_the_halted_ones_alone():
    memory, ended = Memory(), asyncio.Event()
    watch = build_watch(memory)
    running = [asyncio.ensure_future(watch.run(ended.wait(), owner, created=NOW)) for owner in ("o", "other")]
    memory.halts.add("o")
    with pytest.raises(HaltedError):
        await running[0]
    ended.set()
    assert await running[1] is True


async def test_a_cancel_breaks_off_what_it_may_and_nothing_else():
    memory, ended = Memory(), asyncio.Event()
    memory.executions["e"] = build_execution(cancel_requested=True)
    watch = build_watch(memory)
    other = asyncio.ensure_future(watch.run(ended.wait(), "o", created=NOW))
    with pytest.raises(CancelRequestedError):
        await watch.run(ended.wait(), "o", created=NOW, cancellable="e")
    ended.set()
    assert await other is True


async def test_nothing_is_read_for_works_that_each_end_soon():
    halts = CountedHalts(Memory())
    watch = HaltWatch(halts, RecordingLog(), every=timedelta(hours=1))

    async def work() -> None:
        await asyncio.sleep(0)

    for _ in range(3):
        await asyncio.gather(*(watch.run(work(), "o", created=NOW) for _ in range(5)))
    assert halts.read == []


async def test_a_watch_is_used_again_after_its_last_work_has_ended():
    memory, never = Memory(), asyncio.Event()
    watch = build_watch(memory)

    async def work() -> str:
        return "done"

    assert await watch.run(work(), "o", created=NOW) == "done"
    memory.halts.add("o")
    with pytest.raises(HaltedError):
        await watch.run(never.wait(), "o", created=NOW)


async def test_a_switch_that_was_on_for_a_moment_breaks_off_the_model_call_under_way(stage):
    halts = MemoryHalts(stage.memory)

    class Silent:
        async def reply(self, _):
            await halts.put("o", on=True, now=stage.clock.turn(1))
            await halts.put("o", on=False, now=stage.clock.turn(1))
            await asyncio.Event().wait()

    stage.model = Silent()
    async with asyncio.timeout(60):
        await stage.run()
    assert (stage.execution.status, stage.execution.error) == (Status.KILLED, "stopped by its owner's kill switch")


async def test_what_waited_while_the_switch_was_on_ends_when_its_slice_comes(stage):
    await stage.run(fetches(), UnavailableError("busy", after_s=60))
    halts = MemoryHalts(stage.memory)
    await halts.put("o", on=True, now=stage.clock.turn(1))
    await halts.put("o", on=False, now=stage.clock.turn(1))
    await stage.run(says("never"))
    assert (stage.execution.status, stage.execution.error) == (Status.KILLED, "stopped by its owner's kill switch")


async def test_what_is_created_after_the_switch_was_let_go_runs(stage):
    halts = MemoryHalts(stage.memory)
    await halts.put("o", on=True, now=stage.clock.now())
    await halts.put("o", on=False, now=stage.clock.turn(1))
    stage.start()
    stage.memory.executions["e"] = replace(stage.execution, created_at=stage.clock.turn(1))
    await stage.run(says("done"))
    assert stage.execution.status is Status.COMPLETED
