"""A conversation while processes die: at no point is more used and reserved than its limit."""

from __future__ import annotations

import pytest

from ferryman.inmemory.memory import Memory
from tests.campaigns.crash.points import Point, targets
from tests.campaigns.crash.scenarios import SCENARIOS, Scenario
from tests.campaigns.crash.simulated import AWAY, SimulatedRun, memory_ports

EVERY_SCENARIO = pytest.mark.parametrize(
    "scenario", [scenario for scenario in SCENARIOS if scenario.conversation], ids=lambda scenario: scenario.name
)


def build_run(scenario: Scenario, exceeded: list[str], **fields: object) -> SimulatedRun:
    """Return a run that adds to `exceeded` every point at which the limit of the conversation is exceeded."""
    memory, conversation = Memory(), scenario.conversation
    assert conversation is not None

    async def see(point: Point) -> None:
        (balance,) = memory.conversation_balances.values()
        if balance.credits_used + balance.credits_reserved > conversation.credits_max:
            exceeded.append(f"{point}: {balance.credits_used} used and {balance.credits_reserved} reserved")

    return SimulatedRun(scenario=scenario, ports=memory_ports(memory), see=see, **fields)  # type: ignore[arg-type]


@EVERY_SCENARIO
async def test_at_no_point_the_limit_of_a_conversation_is_exceeded(scenario: Scenario) -> None:
    exceeded: list[str] = []
    whole = build_run(scenario, exceeded)
    await whole.perform()
    ways = [*targets(whole.passed), *((point, AWAY) for point in whole.passed)]
    for point, way in ways:
        await build_run(scenario, exceeded, target=point, way=way).perform(together=2)
    assert exceeded == []
