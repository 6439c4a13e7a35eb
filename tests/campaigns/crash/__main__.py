"""`make crash`: kill every scenario at every point in every way, by processes that really die, on the Firestore protocol."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ferryman.domain.jobs.job import JobKind
from tests.campaigns.crash.harness import Harness, forkserver, start_harness
from tests.campaigns.crash.imports import ImportRun, build_archive
from tests.campaigns.crash.invariants import Record, find_broken
from tests.campaigns.crash.jobs import JobRun
from tests.campaigns.crash.jobs import find_broken as find_broken_job
from tests.campaigns.crash.people import PeopleRun
from tests.campaigns.crash.points import Point, targets
from tests.campaigns.crash.remote import REMOTE_SCENARIOS
from tests.campaigns.crash.roll_ups import RollUpRun
from tests.campaigns.crash.scenarios import SCENARIOS, Scenario
from tests.campaigns.crash.stories import STORIES
from tests.contracts.conftest import on_google_cloud

AT_ONCE = 4
"""Runs under way together."""

ATTEMPTS = 3
"""How often a point is tried that calls beside each other may or may not pass, by which of them is first: they share what one
of them has read."""

STOPPED = 130
"""The exit code after Ctrl-C."""

MISSED_MAX = 0.1
"""Of the points of such a scenario, how many may never be passed again."""


@dataclass
class Score:
    """How many points were met, and the findings there; each begins with the rule that was broken."""

    points: int = 0
    findings: list[str] = field(default_factory=list)

    def count(self, *rules: str) -> int:
        return sum(item.partition(": ")[2].startswith(rules) for item in self.findings)


async def run(place: Harness, scenarios: tuple[Scenario, ...], *, step: int, score: Score) -> None:
    """Run `scenarios` to their end, and then killed at every `step`-th of their points."""
    begun = time.monotonic()
    together = asyncio.Semaphore(AT_ONCE)
    for scenario in scenarios:
        whole = await place.run(scenario)
        score.findings += [f"{scenario.name} (uninterrupted): {item}" for item in find_broken(whole.record)]
        chosen = targets(whole.passed)[::step]

        async def one(
            number: int, point: Point, way: str, scenario: Scenario = scenario, whole: Record = whole.record
        ) -> str | None:
            where = f"{scenario.name}, {point} ({way})"
            for _ in range(ATTEMPTS if scenario.is_racing else 1):
                async with together:
                    result = await place.run(
                        scenario, point, way, together=2 if number % 5 == 0 else 1, impatient=number % 5 == 1
                    )
                score.findings += [f"{where}: {item}" for item in find_broken(result.record, whole)]
                if result.hit:
                    score.points += 1
                    return None
            return f"{where}: lost: the point was not reached"

        async with asyncio.TaskGroup() as group:
            runs = [group.create_task(one(number, point, way)) for number, (point, way) in enumerate(chosen)]
        missed = [finding for finding in (run.result() for run in runs) if finding is not None]
        if not scenario.is_racing or len(missed) > MISSED_MAX * len(chosen):
            score.findings += missed
        seconds = time.monotonic() - begun
        count = len(score.findings)
        print(f"{scenario.name:>10}  {len(chosen):>4} points  {count} findings so far  {seconds:5.0f} s", flush=True)


async def run_jobs(*, step: int, score: Score) -> None:
    """Run each kind of job to its end on the Firestore protocol, and then killed at every `step`-th of its points."""
    begun = time.monotonic()
    for kind in JobKind:
        async with on_google_cloud() as stores:
            whole = JobRun(stores=stores, kind=kind)
            broken = await find_broken_job(whole, await whole.perform())
        score.findings += [f"{kind} (uninterrupted): {item}" for item in broken]
        chosen = whole.passed[::step]
        for number, point in enumerate(chosen):
            async with on_google_cloud() as stores:
                job_run = JobRun(stores=stores, kind=kind, target=point, together=1 + number % 2)
                broken = await find_broken_job(job_run, await job_run.perform())
            score.points += 1
            if not job_run.hit:
                broken.append("lost: the point was not reached")
            score.findings += [f"{kind}, {point}: {item}" for item in broken]
        seconds = time.monotonic() - begun
        print(f"{kind:>20}  {len(chosen):>4} points  {len(score.findings)} findings so far  {seconds:5.0f} s", flush=True)


async def run_people(*, step: int, score: Score) -> None:
    """Run each story of people on the Firestore protocol, and then killed, and with an answer lost, at its points."""
    begun = time.monotonic()
    for story in STORIES:
        await _run_requests(story, partial(PeopleRun, story=story), step=step, score=score, begun=begun)


async def run_imports(*, step: int, score: Score) -> None:
    """Import an archive on the Firestore protocol, and then killed, and with an answer lost, at its points."""
    begun, archive = time.monotonic(), await build_archive()
    await _run_requests("import", partial(ImportRun, archive=archive), step=step, score=score, begun=begun)


async def run_roll_ups(*, step: int, score: Score) -> None:
    """Roll events up on the Firestore protocol, and then killed, and with an answer lost, at its points."""
    await _run_requests("roll-up", RollUpRun, step=step, score=score, begun=time.monotonic())


async def _run_requests(
    title: str, make: Callable[..., PeopleRun | ImportRun | RollUpRun], *, step: int, score: Score, begun: float
) -> None:
    """Run what `make` makes to its end, and then killed, and with an answer lost, at every `step`-th of these."""
    async with on_google_cloud() as stores:
        whole = make(stores=stores)
        score.findings += [f"{title} (uninterrupted): {item}" for item in await whole.perform()]
    chosen = [(point, lost) for point in whole.passed for lost in (False, True)][::step]
    for point, lost in chosen:
        async with on_google_cloud() as stores:
            killed = make(stores=stores, target=point, lost=lost)
            broken = await killed.perform()
        score.points += 1
        if not killed.hit:
            broken.append("lost: the point was not reached")
        score.findings += [f"{title}, {point} ({'answer lost' if lost else 'killed'}): {item}" for item in broken]
    seconds = time.monotonic() - begun
    print(f"{title:>27}  {len(chosen):>4} points  {len(score.findings)} findings so far  {seconds:5.0f} s", flush=True)


async def main(folder: Path, scenarios: tuple[Scenario, ...], step: int, *, with_jobs: bool) -> int:
    score = Score()
    context = forkserver()
    async with start_harness(folder, context) as place:
        await run(place, scenarios, step=step, score=score)
    if with_jobs:
        await run_jobs(step=step, score=score)
        await run_people(step=step, score=score)
        await run_imports(step=step, score=score)
        await run_roll_ups(step=step, score=score)
    for entry in score.findings:
        print(entry)
    rules = Counter(item.partition(": ")[2].partition(":")[0] for item in score.findings)
    if rules:
        print(", ".join(f"{count} {rule}" for rule, count in sorted(rules.items())))
    lost, doubled = (
        score.count("lost", "audit", "receipts", "left", "touched", "half"),
        score.count("doubled", "counted", "beyond", "charged", "ledger", "balance", "quota"),
    )
    print(f"{score.points} points, {lost} lost, {doubled} doubled")
    return 1 if score.findings or not score.points else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.crash", description=__doc__)
    parser.add_argument("--scenario", action="append", help="only this scenario (repeatable)")
    parser.add_argument("--step", type=int, default=1, help="meet every so many-th point only")
    chosen = parser.parse_args()
    selected = tuple(
        scenario for scenario in (*SCENARIOS, *REMOTE_SCENARIOS) if not chosen.scenario or scenario.name in chosen.scenario
    )
    with tempfile.TemporaryDirectory(prefix="crash-", ignore_cleanup_errors=True) as folder:
        try:
            sys.exit(asyncio.run(main(Path(folder), selected, chosen.step, with_jobs=not chosen.scenario)))
        except KeyboardInterrupt:
            print("stopped: what is not listed was not run", flush=True)
            sys.exit(STOPPED)
