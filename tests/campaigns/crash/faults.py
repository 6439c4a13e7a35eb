"""`make faults`: inject every fault into every Firestore call of every scenario."""

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


async def main(scenarios: tuple[Scenario, ...], step: int) -> int:
    injector, firestore = FaultInjector(), FirestoreEmulator(path=None, indexes=INDEXES)
    server = grpc.aio.server(interceptors=[injector], options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
    server.add_generic_rpc_handlers((firestore.handler(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await firestore.start()
    await server.start()
    findings: list[str] = []
    runs, begun = 0, time.monotonic()

    async def run(scenario: Scenario, about: tuple[str, int, InjectedFault] | None) -> SimulatedRun:
        nonlocal runs
        runs += 1
        clients = workers.build_clients(f"faults-{runs}", address)
        ports = workers.build_ports(clients)
        result = SimulatedRun(scenario=scenario, ports=ports, begins=lambda: injector.begin(about), ends=injector.end)
        outcome = await result.perform(together=1 + runs % 2)
        where = f"{scenario.name}, {about[0]}#{about[1]} {about[2]}" if about else f"{scenario.name} (uninterrupted)"
        findings.extend(f"{where}: {item}" for item in find_broken(outcome))
        if about is not None and not injector.fired:
            findings.append(f"{where}: lost: the call was not reached")
        await clients.close()
        return result

    for scenario in scenarios:
        await run(scenario, None)
        calls = [(name, nth) for name, times in sorted(injector.seen.items()) for nth in range(times) if name in FAULTS]
        faults = [(name, nth, fault) for name, nth in calls for fault in FAULTS[name]][::step]
        for about in faults:
            await run(scenario, about)
        print(
            f"{scenario.name:>10}  {len(faults):>4} faults  {len(findings)} findings so far  {time.monotonic() - begun:5.0f} s",
            flush=True,
        )
    await server.stop(0)
    await firestore.close()
    print(*findings, sep="\n", end="\n" if findings else "")
    print(f"{runs - len(scenarios)} faults, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.crash.faults", description=__doc__)
    parser.add_argument("--scenario", action="append", help="only this scenario (repeatable)")
    parser.add_argument("--step", type=int, default=1, help="only every so many-th fault")
    chosen = parser.parse_args()
    selected = tuple(scenario for scenario in SCENARIOS if not chosen.scenario or scenario.name in chosen.scenario)
    sys.exit(asyncio.run(main(selected, chosen.step)))
