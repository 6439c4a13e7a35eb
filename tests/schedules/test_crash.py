"""Crashes: whatever dies, comes twice or is lost, each time makes exactly one execution, and it is in the queue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.inmemory.clock import START
from ferryman.inmemory.schedules import MemorySchedules
from ferryman.schedules.fire import ScheduleDependencies

from .conftest import Stage

HOUR, HOURS = timedelta(hours=1), 3


class Died(BaseException):
    """The process is gone; nothing after this line has run."""


@dataclass
class Life:
    """Counts what crosses the ports, and ends before or after one of the port_calls."""

    ends_at: int | None = None
    after: bool = False
    port_calls: int = 0

    def deps(self, stage: Stage) -> ScheduleDependencies:
        ports = {"schedules": MemorySchedules(stage.memory), "queue": stage.queue, "timers": stage.timers}
        return stage.deps(**{name: Mortal(port, self) for name, port in ports.items()})

    async def cross(self, call: Callable[[], Awaitable[Any]]) -> Any:
        number, self.port_calls = self.port_calls, self.port_calls + 1
        if number == self.ends_at and not self.after:
            raise Died
        answer = await call()
        if number == self.ends_at:
            raise Died
        return answer


@dataclass
class Mortal:
    """A port whose every call may be the last."""

    port: Any
    life: Life

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self.port, name)
        return lambda *args, **named: self.life.cross(lambda: method(*args, **named))


async def lived(life: Life) -> Stage:
    """Run some hours in which the process dies once."""
    stage = Stage()
    await stage.schedule()
    while (timer := stage.timers.next()) is not None and timer.due <= START + HOURS * HOUR:
        stage.clock.turn(max(timedelta(0), timer.due - stage.clock.now()))
        try:
            assert await stage.deliver(timer, life.deps(stage))
        except Died:
            continue
        stage.timers.remove(timer)
    return stage


def exactly_once(stage: Stage, hours: int = HOURS) -> None:
    times = [execution.scheduled_for - START for execution in stage.executions if execution.scheduled_for]
    assert times == [number * HOUR for number in range(1, hours + 1)]
    assert sorted(stage.enqueued) == sorted(execution.id for execution in stage.executions)
    assert stage.task.next_fire_at == START + (hours + 1) * HOUR


async def test_killed_at_every_port_call_every_time_makes_one_execution() -> None:
    whole = Life()
    exactly_once(await lived(whole))
    assert whole.port_calls > 50
    for number in range(whole.port_calls):
        for after in (False, True):
            exactly_once(await lived(Life(ends_at=number, after=after)))


FATES = st.sampled_from(["delivered", "twice", "lost", *(f"dies {n} {after}" for n in range(5) for after in (False, True))])


@settings(max_examples=150, deadline=None)
@given(st.lists(FATES, max_size=40), st.integers(1, 5))
async def test_whatever_becomes_of_the_deliveries_every_time_makes_one_execution(fates: list[str], hours: int) -> None:
    stage, fates = Stage(), list(fates)
    await stage.schedule()
    started: set[object] = set()
    while (timer := stage.timers.next()) is not None and timer.due <= START + hours * HOUR + timedelta(minutes=21):
        stage.clock.turn(max(timedelta(0), timer.due - stage.clock.now()))
        fate, *how = (fates.pop() if fates else "delivered").split()
        if fate == "lost" and timer.fire and timer not in started and not timer.wake_up:
            stage.timers.remove(timer)
            continue
        life = Life(ends_at=int(how[0]), after=how[1] == "True") if how else Life()
        try:
            for _ in range(2 if fate == "twice" else 1):
                assert await stage.deliver(timer, life.deps(stage))
        except Died:
            started.add(timer)
            continue
        stage.timers.remove(timer)
    exactly_once(stage, hours)
