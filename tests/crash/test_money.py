"""Money under deaths: whatever the caps and whoever dies where, no cap is exceeded and every credit is accounted for."""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Decimal

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ferryman.domain.execution import Status
from ferryman.domain.purse import Purse
from ferryman.local.executions import MemoryExecutions
from ferryman.local.memory import Memory
from tests.crash.ground import Ports
from tests.crash.simulated import memory_ports
from tests.crash.soak import Soak

CREDITS = st.decimals(min_value="0.001", max_value="300", places=3)


def soak(doors: Ports, **given: object) -> Soak:
    known = {"chance": random.Random(1), "owners": 2, "tasks": 3, "executions": 100, "risk": 0.01}
    return Soak(doors=doors, **{**known, **given})


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 2**32),
    month=CREDITS,
    task_month=CREDITS,
    most=CREDITS,
    risk=st.sampled_from([0.0, 0.01, 0.05]),
    owners=st.integers(1, 3),
)
@example(seed=1, month=Decimal(240), task_month=Decimal(200), most=Decimal(20), risk=0.02, owners=2)
async def test_no_cap_is_exceeded_and_the_books_are_right(
    seed: int, month: Decimal, task_month: Decimal, most: Decimal, risk: float, owners: int
) -> None:
    run = soak(
        memory_ports(Memory()),
        chance=random.Random(seed),
        owners=owners,
        month=month,
        task_month=task_month,
        most=most,
        risk=risk,
    )
    await run.run(64)
    assert run.found == []


async def test_under_tight_caps_some_executions_are_refused_and_some_complete() -> None:
    run = soak(memory_ports(Memory()), month=Decimal(240), task_month=Decimal(200), most=Decimal(20))
    ended = await run.run(64)
    refused = [each for each in ended if "are not left this month" in (each.error or "")]
    assert run.deaths
    assert refused
    assert {each.status for each in ended if each not in refused} == {Status.COMPLETED}


class GenerousExecutions(MemoryExecutions):
    """Reserves whatever is asked for."""

    def _purse(self, name: str, now: object) -> Purse:
        class Bottomless(Purse):
            def reserve(self, amount: Decimal, *, limit: Decimal, whose: str) -> Purse:
                return super().reserve(amount, limit=Decimal(10**9), whose=whose)

        held = self._memory.purses.get(name, Purse(id=name))
        return Bottomless(id=name, month="2026-11", credits_used=held.credits_used, credits_reserved=held.credits_reserved)


async def test_a_cap_that_is_not_kept_is_found() -> None:
    memory = Memory()
    doors = memory_ports(memory)
    run = soak(
        replace(doors, executions=GenerousExecutions(memory)), month=Decimal(60), task_month=Decimal(50), most=Decimal(20)
    )
    await run.run(64)
    assert run.found
