"""Run many scenarios on one harness, several at a time, and judge each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.hostile.evidence import gather
from tests.campaigns.hostile.harness import Harness, start_harness
from tests.campaigns.hostile.judge import Verdict, judge_runs
from tests.campaigns.hostile.perform import prepare_run, run_scenario
from tests.campaigns.hostile.scenario import Scenario

AT_ONCE = 16

ReportProgress = Callable[[int, int], None]
"""Called with how many scenarios have ended, and how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """How many scenarios ran, and what became of them."""

    scenarios: int
    verdict: Verdict
    seconds: float


async def run_scenarios(
    scenarios: Sequence[Scenario], *, source: Path | None = None, report: ReportProgress = lambda _, __: None
) -> Results:
    """Run the scenarios on a harness of their own, its functions from `source`."""
    began = time.monotonic()
    async with start_harness(source) as harness:
        verdict = await run_campaign(harness, scenarios, report)
    return Results(scenarios=len(scenarios), verdict=verdict, seconds=time.monotonic() - began)


async def run_campaign(harness: Harness, scenarios: Sequence[Scenario], report: ReportProgress = lambda _, __: None) -> Verdict:
    """Run the scenarios on `harness`, at most 16 at a time, and judge them."""
    gate, ended = asyncio.Semaphore(AT_ONCE), 0
    runs = [prepare_run(scenario) for scenario in scenarios]

    async def run(number: int) -> None:
        nonlocal ended
        async with gate:
            await run_scenario(harness, runs[number])
        ended += 1
        report(ended, len(scenarios))

    # the longest first: the others fit in between
    order = sorted(range(len(scenarios)), key=lambda number: -_count_calls(scenarios[number]))
    await asyncio.gather(*(run(number) for number in order))
    return judge_runs(await gather(harness, runs), runs)


def _count_calls(scenario: Scenario) -> int:
    return sum(1 + len(turn.get("tool_calls", ())) for turn in scenario.turns) + 10 * scenario.victim
