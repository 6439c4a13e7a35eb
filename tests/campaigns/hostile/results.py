"""Run many scenarios on one harness, several at a time, and judge each."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.campaigns.hostile.evidence import gather
from tests.campaigns.hostile.harness import Harness, start_harness
from tests.campaigns.hostile.judge import Verdict, judge_runs
from tests.campaigns.hostile.laundering.campaign import LaunderingScenario
from tests.campaigns.hostile.perform import run_scenario
from tests.campaigns.hostile.replacements import ROOT
from tests.campaigns.hostile.scenario import Scenario
from tests.campaigns.hostile.scenario_run import ScenarioRun, prepare_run

AT_ONCE = 16
AGAIN = ", again"

ReportProgress = Callable[[int, int], None]
"""Called with how many scenarios have ended, and how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """How many scenarios ran, and what became of them."""

    scenarios: int
    verdict: Verdict
    seconds: float


async def run_scenarios(
    scenarios: Sequence[Scenario | LaunderingScenario],
    *,
    source: Path | None = None,
    report: ReportProgress = lambda _, __: None,
) -> Results:
    """Run the scenarios on a harness of their own, its functions from `source`; those of laundering in a process of theirs."""
    began = time.monotonic()
    on_stack = [scenario for scenario in scenarios if isinstance(scenario, Scenario)]
    verdict = await run_laundering([scenario for scenario in scenarios if isinstance(scenario, LaunderingScenario)], source)
    if on_stack:
        async with start_harness(source) as harness:
            verdict = verdict.join(await run_campaign(harness, on_stack, report))
    return Results(scenarios=len(scenarios), verdict=verdict, seconds=time.monotonic() - began)


async def run_laundering(scenarios: Sequence[LaunderingScenario], source: Path | None) -> Verdict:
    """Run scenarios of laundering on stores in memory, with the library beside the functions of `source`.

    Those that did not take place are run once more, as the others are (`run_campaign`).
    """
    verdict = await _launder(scenarios, source)
    again = [scenario for scenario in scenarios if scenario.name in verdict.missed]
    for scenario in again:
        print(f"  {scenario.name}{AGAIN}: {verdict.missed[scenario.name][0]}", file=sys.stderr, flush=True)
    second = await _launder(again, source)
    return Verdict(got={**verdict.got, **second.got}, missed=second.missed)


async def _launder(scenarios: Sequence[LaunderingScenario], source: Path | None) -> Verdict:
    if not scenarios:
        return Verdict(got={}, missed={})
    around = {**os.environ, "PYTHONPATH": str(ROOT if source is None else source.parent / "lib")}
    command = [sys.executable, "-m", f"{__package__}.laundering", *(scenario.name for scenario in scenarios)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=ROOT, env=around)
    printed, _ = await process.communicate()
    names = {scenario.name for scenario in scenarios}
    lines = [line for line in map(json.loads, printed.splitlines()) if line[0] in names]
    absent = {scenario.name: ["it did not run"] for scenario in scenarios} if len(lines) != len(scenarios) else {}
    missed = {name: sentences for name, _, sentences, _ in lines if sentences}
    return Verdict(got={name: faults for name, faults, _, _ in lines if faults}, missed={**absent, **missed})


async def run_campaign(harness: Harness, scenarios: Sequence[Scenario], report: ReportProgress = lambda _, __: None) -> Verdict:
    """Run the scenarios on `harness`, at most 16 at a time, and judge them.

    Those that did not take place, as on a machine that is too slow, are run once more, one at a time. What they got counts.
    """
    runs = await _run_all(harness, scenarios, AT_ONCE, report)
    verdict = judge_runs(await gather(harness, runs), runs)
    again = {f"{scenario.name}{AGAIN}": scenario for scenario in scenarios if scenario.name in verdict.missed}
    if not again:
        return verdict
    for scenario in again.values():
        print(f"  {scenario.name}{AGAIN}: {verdict.missed[scenario.name][0]}", file=sys.stderr, flush=True)
    runs += await _run_all(harness, [replace(scenario, name=name) for name, scenario in again.items()], 1, report)
    verdict = judge_runs(await gather(harness, runs), runs)
    got = {name.removesuffix(AGAIN): sentences for name, sentences in verdict.got.items()}
    missed = {name.removesuffix(AGAIN): sentences for name, sentences in verdict.missed.items() if name.endswith(AGAIN)}
    return Verdict(got=got, missed=missed)


async def _run_all(harness: Harness, scenarios: Sequence[Scenario], at_once: int, report: ReportProgress) -> list[ScenarioRun]:
    gate, ended = asyncio.Semaphore(at_once), 0
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
    return runs


def _count_calls(scenario: Scenario) -> int:
    return sum(1 + len(turn.get("tool_calls", ())) for turn in scenario.turns) + 10 * scenario.victim
