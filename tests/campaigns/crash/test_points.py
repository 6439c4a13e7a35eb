"""Every point of every scenario: killed there, an execution still ends, once, paid for once, with its whole record."""

from __future__ import annotations

import pytest

from ferryman.inmemory.memory import Memory
from tests.campaigns.crash.invariants import find_broken
from tests.campaigns.crash.points import targets
from tests.campaigns.crash.sampling import sample
from tests.campaigns.crash.scenarios import SCENARIOS, Scenario
from tests.campaigns.crash.simulated import AWAY, SimulatedRun, memory_ports

KILLED_MOST, LOST_MOST = 4, 2
"""Of each scenario so many points, and so many answers that are lost. `make crash` takes every one, here and in processes that
die; `make faults` loses the answer of every call to Firestore."""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_killed_at_any_point_it_still_ends_right(scenario: Scenario) -> None:
    whole = SimulatedRun(scenario=scenario, ports=memory_ports(Memory()))
    uninterrupted = await whole.perform()
    assert find_broken(uninterrupted) == []
    findings = []
    for number, (point, way) in sample([*enumerate(targets(whole.passed))], KILLED_MOST):
        run = SimulatedRun(scenario=scenario, ports=memory_ports(Memory()), target=point, way=way)
        after = await run.perform(together=1 + number % 2, impatient=number % 3 == 0)
        assert run.hit, f"{point} was not reached"
        findings += [f"{point} ({way}): {item}" for item in find_broken(after, uninterrupted)]
    assert findings == []


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_with_any_answer_lost_it_still_ends_right(scenario: Scenario) -> None:
    whole = SimulatedRun(scenario=scenario, ports=memory_ports(Memory()))
    uninterrupted = await whole.perform()
    findings = []
    for number, point in sample([*enumerate(whole.passed)], LOST_MOST):
        run = SimulatedRun(scenario=scenario, ports=memory_ports(Memory()), target=point, way=AWAY)
        after = await run.perform(together=1 + number % 2, impatient=number % 3 == 0)
        assert run.hit, f"{point} was not reached"
        findings += [f"{point}: {item}" for item in find_broken(after, uninterrupted)]
    assert findings == []
