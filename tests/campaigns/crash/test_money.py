"""Money under deaths: whatever the caps and wherever a process dies, no cap is exceeded and every credit is accounted for."""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ferryman.domain.executions.execution import Execution, ExecutionSetup, Status
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.memory import Memory
from tests.campaigns.crash.fixtures import Ports
from tests.campaigns.crash.simulated import memory_ports
from tests.campaigns.crash.soak import Soak

CREDITS = st.decimals(min_value="0.001", max_value="300", places=3)


def soak(ports: Ports, **fields: object) -> Soak:
    known = {"chance": random.Random(1), "owners": 2, "tasks": 3, "conversations": 2, "executions": 100, "risk": 0.01}
    return Soak(ports=ports, **{**known, "conversation_month": Decimal(10**6), **fields})


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 2**32),
    month=CREDITS,
    task_month=CREDITS,
    conversation_month=CREDITS,
    most=CREDITS,
    risk=st.sampled_from([0.0, 0.01, 0.05]),
    owners=st.integers(1, 3),
)
@example(
    seed=1,
    month=Decimal(240),
    task_month=Decimal(200),
    conversation_month=Decimal(150),
    most=Decimal(20),
    risk=0.02,
    owners=2,
)
async def test_no_cap_is_exceeded_and_the_books_are_right(
    seed: int, month: Decimal, task_month: Decimal, conversation_month: Decimal, most: Decimal, risk: float, owners: int
) -> None:
    run = soak(
        memory_ports(Memory()),
        chance=random.Random(seed),
        owners=owners,
        month=month,
        task_month=task_month,
        conversation_month=conversation_month,
        most=most,
        risk=risk,
    )
    await run.run(64)
    assert run.findings == []


async def test_under_tight_caps_some_executions_are_refused_and_some_complete() -> None:
    run = soak(memory_ports(Memory()), month=Decimal(240), task_month=Decimal(200), most=Decimal(20))
    ended = await run.run(64)
    refused = [item for item in ended if "credits do not fit" in (item.error or "")]
    assert run.deaths
    assert refused
    assert {entry.status for entry in ended if entry not in refused} == {Status.COMPLETED}


class GenerousExecutions(MemoryExecutions):
    """Reserves whatever is asked for."""

    async def open(self, execution: Execution, opening: ExecutionSetup, **named: Any) -> None:
        assert execution.policy is not None
        plan = replace(execution.policy.plan, credits_per_month=Decimal(10**9))
        await super().open(replace(execution, policy=replace(execution.policy, plan=plan, caps=())), opening, **named)


@pytest.mark.parametrize("name", ["month", "task_month", "conversation_month"])
async def test_a_cap_that_is_not_kept_is_found(name: str) -> None:
    memory = Memory()
    ports = replace(memory_ports(memory), executions=GenerousExecutions(memory))
    caps = {"month": Decimal(10**6), "task_month": Decimal(10**6), name: Decimal(50)}
    run = soak(ports, most=Decimal(20), **caps)
    await run.run(64)
    assert run.findings
