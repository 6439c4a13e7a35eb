"""Zombies: a process that was frozen while another took over no longer writes or sends anything (fencing)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.campaigns.crash.fixtures import Ports, store_task
from tests.campaigns.crash.invariants import find_broken
from tests.campaigns.crash.points import Point
from tests.campaigns.crash.scenarios import SCENARIOS, Scenario
from tests.campaigns.crash.simulated import FROZEN, SimulatedRun, record

NAMED = {scenario.name: scenario for scenario in SCENARIOS}


def is_sending(point: Point) -> bool:
    """Say whether this is the very moment of sending: no look at a clock comes between, and the peer knows no epoch."""
    return point.side == "before" and point.operation in ("model.reply", "gate.send")


@pytest.mark.parametrize("name", ["unkeyed", "keyed", "cancel", "hand-over", "several"])
async def test_a_process_that_thaws_after_another_took_over_writes_and_sends_nothing(deps, name: str) -> None:
    make, stride = deps
    scenario: Scenario = NAMED[name]
    whole = SimulatedRun(scenario=scenario, ports=make())
    await whole.perform()
    points = [point for point in whole.passed if not is_sending(point)]
    findings = []
    for point in points[:: stride * (1 if stride == 1 else 9 if len(points) > 100 else 3)]:
        run = SimulatedRun(scenario=scenario, ports=make(), target=point, way=FROZEN)
        outcome = await run.perform()
        assert run.thawed is not None, f"{point} was not reached"
        if run.thawed[0] != outcome:
            findings.append(f"{point}: written after the thaw")
        if run.thawed[1] != len(run.tally.lines):
            findings.append(f"{point}: sent after the thaw: {run.tally.lines[run.thawed[1] :]}")
        findings += [f"{point}: {item}" for item in find_broken(outcome)]
    assert findings == []


@pytest.mark.parametrize("times", [2, 4, 8])
@pytest.mark.parametrize("name", ["unkeyed", "several"])
async def test_of_deliveries_of_one_slice_at_once_one_runs(
    deps: tuple[Callable[[], Ports], int], name: str, times: int
) -> None:
    run = SimulatedRun(scenario=NAMED[name], ports=deps[0]())
    await store_task(run.ports, run.scenario, sealing=False)
    acknowledged = await asyncio.gather(*(run.deliver(0) for _ in range(times)))
    outcome = await record(run.ports, run.scenario, run.tally)
    assert sum(acknowledged) == 1
    assert len(outcome.model_calls) == len(outcome.steps)
    assert find_broken(outcome) == []
