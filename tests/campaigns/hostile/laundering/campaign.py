"""The scenarios: each channel with some spellings, every spelling by many channels; and how each of them ends."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from tests.campaigns.hostile.laundering.channels import CHANNELS, Channel
from tests.campaigns.hostile.laundering.rig import Rig
from tests.campaigns.hostile.laundering.spellings import NAMED, SPELLINGS, VALUE

KIND = "laundering"
SPELLINGS_OF_CHANNEL = 4
"""Spellings of a channel: the value as it is, and the next three others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunderingScenario:
    """A channel, and the spelling of what comes by it."""

    channel: Channel
    spelling: str

    @property
    def name(self) -> str:
        """As the campaign tells it."""
        return f"{KIND}: {self.channel.name}, {self.spelling}"

    @property
    def kind(self) -> str:
        """The kind by which scenarios are counted."""
        return KIND


def _list_scenarios() -> list[LaunderingScenario]:
    scenarios, turn = [], 0
    for channel in CHANNELS.values():
        others = [name for name in (NAMED if channel.is_name else SPELLINGS) if name != "as it is"]
        chosen = [others[(turn + number) % len(others)] for number in range(SPELLINGS_OF_CHANNEL - 1)]
        turn += SPELLINGS_OF_CHANNEL - 1
        scenarios += [LaunderingScenario(channel=channel, spelling=spelling) for spelling in ("as it is", *chosen)]
    return scenarios


SCENARIOS: Sequence[LaunderingScenario] = _list_scenarios()


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunderingOutcome:
    """What a scenario `got`, why it did not take place (`missed`), and the seconds of processor time that it took."""

    got: list[str]
    missed: list[str]
    cpu_s: float


async def run(scenario: LaunderingScenario) -> LaunderingOutcome:
    """Run a scenario on a rig of its own."""
    begun, rig = time.process_time(), Rig()
    text = SPELLINGS[scenario.spelling](VALUE)
    await scenario.channel.go(rig, text)
    halves = (text[: len(text) // 2], text[len(text) // 2 :])
    missed = [] if rig.has_read(*halves) else ["the model never read the text"]
    return LaunderingOutcome(got=rig.find_faults(), missed=missed, cpu_s=time.process_time() - begun)
