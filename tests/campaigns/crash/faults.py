"""`make faults`: inject every fault into every Firestore call of every scenario, job, story of people, and of an import.

How many calls a run makes depends on how two deliveries that come together take turns, so a run may end without the call that
was to fail. It is then repeated, with one delivery and with two; what no attempt reached is told as not tried, and the exit
code is 1 where that is more than a tenth.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Collection
from dataclasses import dataclass, field

from tests.campaigns.crash.cases import Case, list_cases
from tests.campaigns.crash.fault_injector import FAULTS, FaultInjector, InjectedFault
from tests.contracts.conftest import on_google_cloud

AT_ONCE = 8
"""Runs under way together: most of the time each waits until the client tries again."""

ATTEMPTS = 4
"""How often a call is waited for, each time in a run of its own."""

About = tuple[str, int, InjectedFault]
"""The name of a call, which one of that name it is in a run, and the fault that it is answered with."""


@dataclass(kw_only=True)
class Campaign:
    """The runs so far, each on a Firestore of its own, and what they found."""

    findings: list[str] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)
    runs: int = 0
    injected: int = 0
    _together: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def meet(self, name: str, case: Case, *, step: int) -> int:
        """Run a case to its end, and then with every `step`-th fault. Return how many these are."""
        whole = await self._run(name, case, None, together=1)
        calls = [(call, nth) for call, times in sorted(whole.seen.items()) for nth in range(times) if call in FAULTS]
        faults = [(call, nth, fault) for call, nth in calls for fault in FAULTS[call]][::step]
        async with asyncio.TaskGroup() as group:
            for number, about in enumerate(faults):
                group.create_task(self._inject(name, case, about, together=1 + number % 2))
        return len(faults)

    async def _inject(self, name: str, case: Case, about: About, *, together: int) -> None:
        async with self._together:
            for attempt in range(ATTEMPTS):
                if (await self._run(name, case, about, together=1 + (together + attempt - 1) % 2)).fired:
                    self.injected += 1
                    return
            self.untried.append(describe(name, about))

    async def _run(self, name: str, case: Case, about: About | None, *, together: int) -> FaultInjector:
        """Return the injector of a run, which knows the calls and whether the fault was injected."""
        self.runs += 1
        injector = FaultInjector()
        async with on_google_cloud(injector) as stores:
            try:
                broken = await case(stores=stores, together=together, begins=lambda: injector.begin(about), ends=injector.end)
            except Exception as error:  # noqa: BLE001 - the others are tried all the same
                broken = [f"raised: {type(error).__name__}: {error}"]
        self.findings += [f"{describe(name, about)}: {item}" for item in broken]
        return injector


async def main(names: Collection[str], step: int) -> int:
    cases, campaign, begun = await list_cases(), Campaign(), time.monotonic()
    if unknown := [name for name in names if name not in cases]:
        print(f"no such scenario, job or story: {', '.join(unknown)}; there are: {', '.join(cases)}", file=sys.stderr)
        return 2
    for name in names or cases:
        count = await campaign.meet(name, cases[name], step=step)
        seconds = time.monotonic() - begun
        print(f"{name:>27}  {count:>4} faults  {len(campaign.findings)} findings so far  {seconds:5.0f} s", flush=True)
    print(*campaign.findings, sep="\n", end="\n" if campaign.findings else "")
    untried = [f"{item}: not tried: no run reached the call" for item in campaign.untried]
    print(*untried, sep="\n", end="\n" if untried else "")
    print(f"{campaign.injected} faults in {campaign.runs} runs, {len(untried)} not tried, {len(campaign.findings)} findings")
    return 1 if campaign.findings or not campaign.injected or 10 * len(untried) > campaign.injected else 0


def describe(name: str, about: About | None) -> str:
    return f"{name}, {about[0]}#{about[1]} {about[2]}" if about else f"{name} (uninterrupted)"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.crash.faults", description=__doc__)
    parser.add_argument("--scenario", action="append", default=[], help="only this scenario, job or story (repeatable)")
    parser.add_argument("--step", type=int, default=1, help="only every so many-th fault")
    chosen = parser.parse_args()
    sys.exit(asyncio.run(main(chosen.scenario, chosen.step)))
