"""Every point of an execution that reaches a cap, and of the delivery of its alerts: each alert is stored once and received."""

from __future__ import annotations

import pytest

from tests.campaigns.crash.alerts import REACHED, REFUSED, build_run, find_broken
from tests.campaigns.crash.points import targets
from tests.campaigns.crash.scenarios import Scenario
from tests.campaigns.crash.simulated import AWAY

EVERY_SCENARIO = pytest.mark.parametrize("scenario", [REACHED, REFUSED], ids=lambda scenario: scenario.name)


@EVERY_SCENARIO
async def test_uninterrupted_every_alert_is_stored_once_and_received(scenario: Scenario) -> None:
    run = build_run(scenario)
    assert find_broken(run, await run.perform()) == []
    assert len(run.memory.alerts) == 1
    assert len(run.received) == 1 + run.unanswered


@EVERY_SCENARIO
async def test_killed_at_any_point_every_alert_is_stored_once_and_received(scenario: Scenario) -> None:
    whole = build_run(scenario)
    await whole.perform()
    findings = []
    for number, (point, way) in enumerate(targets(whole.passed)):
        run = build_run(scenario, target=point, way=way)
        broken = find_broken(run, await run.perform(together=1 + number % 2))
        assert run.hit, f"{point} was not reached"
        findings += [f"{point} ({way}): {item}" for item in broken]
    assert findings == []


@EVERY_SCENARIO
async def test_with_any_answer_lost_every_alert_is_stored_once_and_received(scenario: Scenario) -> None:
    whole = build_run(scenario)
    await whole.perform()
    findings = []
    for number, point in enumerate(whole.passed):
        run = build_run(scenario, target=point, way=AWAY)
        broken = find_broken(run, await run.perform(together=1 + number % 2))
        findings += [f"{point}: {item}" for item in broken]
    assert findings == []
