"""`make faults`: inject every fault into every Firestore call of every scenario.

How many calls a run makes depends on how two deliveries that come together take turns, so a run may end without the call that
was to fail. It is then repeated, with one delivery and with two; what no attempt reached is told as not tried, and the exit
code is 1 where that is more than a tenth.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

import grpc

from emulator.firestore import SERVER_OPTIONS, FirestoreEmulator
from tests.campaigns.crash import workers
from tests.campaigns.crash.fault_injector import FAULTS, FaultInjector, InjectedFault
from tests.campaigns.crash.harness import INDEXES
from tests.campaigns.crash.invariants import find_broken
from tests.campaigns.crash.scenarios import SCENARIOS, Scenario
from tests.campaigns.crash.simulated import SimulatedRun

ATTEMPTS = 4
"""How often a call is waited for, each time in a run of its own."""


async def main(scenarios: tuple[Scenario, ...], step: int) -> int:
    injector, firestore = FaultInjector(), FirestoreEmulator(path=None, indexes=INDEXES)
    server = grpc.aio.server(interceptors=[injector], options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
    server.add_generic_rpc_handlers((firestore.handler(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await firestore.start()
    await server.start()
    findings: list[str] = []
    untried: list[str] = []
    runs, injected, begun = 0, 0, time.monotonic()

    async def run(scenario: Scenario, about: tuple[str, int, InjectedFault] | None, *, together: int) -> bool:
        """Return whether the fault was injected."""
        nonlocal runs
        runs += 1
        clients = workers.build_clients(f"faults-{runs}", address)
        ports = workers.build_ports(clients)
        result = SimulatedRun(scenario=scenario, ports=ports, begins=lambda: injector.begin(about), ends=injector.end)
        outcome = await result.perform(together=together)
        findings.extend(f"{describe(scenario, about)}: {item}" for item in find_broken(outcome))
        await clients.close()
        return injector.fired

    async def inject(scenario: Scenario, about: tuple[str, int, InjectedFault], *, together: int) -> None:
        nonlocal injected
        for attempt in range(ATTEMPTS):
            if await run(scenario, about, together=1 + (together + attempt - 1) % 2):
                injected += 1
                return
        untried.append(describe(scenario, about))

    for scenario in scenarios:
        await run(scenario, None, together=1)
        calls = [(name, nth) for name, times in sorted(injector.seen.items()) for nth in range(times) if name in FAULTS]
        faults = [(name, nth, fault) for name, nth in calls for fault in FAULTS[name]][::step]
        for number, about in enumerate(faults):
            await inject(scenario, about, together=1 + number % 2)
        print(
            f"{scenario.name:>10}  {len(faults):>4} faults  {len(findings)} findings so far  {time.monotonic() - begun:5.0f} s",
            flush=True,
        )
    await server.stop(0)
    await firestore.close()
    print(*findings, sep="\n", end="\n" if findings else "")
    print(*(f"{what}: not tried: no run reached the call" for what in untried), sep="\n", end="\n" if untried else "")
    print(f"{injected} faults in {runs} runs, {len(untried)} not tried, {len(findings)} findings")
    return 1 if findings or 10 * len(untried) > injected else 0


def describe(scenario: Scenario, about: tuple[str, int, InjectedFault] | None) -> str:
    return f"{scenario.name}, {about[0]}#{about[1]} {about[2]}" if about else f"{scenario.name} (uninterrupted)"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.crash.faults", description=__doc__)
    parser.add_argument("--scenario", action="append", help="only this scenario (repeatable)")
    parser.add_argument("--step", type=int, default=1, help="only every so many-th fault")
    chosen = parser.parse_args()
    selected = tuple(scenario for scenario in SCENARIOS if not chosen.scenario or scenario.name in chosen.scenario)
    sys.exit(asyncio.run(main(selected, chosen.step)))
