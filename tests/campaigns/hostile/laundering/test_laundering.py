"""Every channel keeps the label of a stranger's text, in every spelling; and what judges that sees where it is lost."""

from __future__ import annotations

import pytest

from tests.campaigns.hostile.laundering.campaign import SCENARIOS, SPELLINGS_OF_CHANNEL, LaunderingScenario, run
from tests.campaigns.hostile.laundering.channels import CHANNELS
from tests.campaigns.hostile.laundering.rig import ACT, Rig
from tests.campaigns.hostile.laundering.spellings import SPELLINGS


@pytest.mark.parametrize("name", CHANNELS)
async def test_no_channel_loses_the_label(name: str) -> None:
    outcome = await run(LaunderingScenario(channel=CHANNELS[name], spelling="as it is"))
    assert (outcome.got, outcome.missed) == ([], [])


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_no_spelling_loses_the_label(spelling: str) -> None:
    outcome = await run(LaunderingScenario(channel=CHANNELS["answer"], spelling=spelling))
    assert (outcome.got, outcome.missed) == ([], [])


def test_there_are_at_least_a_hundred_scenarios_each_another() -> None:
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS) == SPELLINGS_OF_CHANNEL * len(CHANNELS) >= 100
    assert {scenario.spelling for scenario in SCENARIOS} == set(SPELLINGS)


async def test_a_model_that_has_read_nothing_sends_the_same_call() -> None:
    rig = Rig()
    await rig.run_task(*ACT)
    assert rig.find_faults() == ["the request left", "the label of the call is lost"]


async def test_a_text_that_the_model_never_read_is_told() -> None:
    rig = Rig()
    await rig.run_task(*ACT)
    assert not rig.has_read("another text")
