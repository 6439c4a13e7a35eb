"""Cases: everything that a fault is injected into, each with the run that finds what the fault has broken."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from ferryman.domain.jobs.job import JobKind
from ferryman.inmemory.memory import Memory
from tests.campaigns.crash.fixtures import Ports
from tests.campaigns.crash.imports import ImportRun, build_archive
from tests.campaigns.crash.invariants import find_broken
from tests.campaigns.crash.jobs import JobRun
from tests.campaigns.crash.jobs import find_broken as find_broken_job
from tests.campaigns.crash.people import PeopleRun
from tests.campaigns.crash.roll_ups import RollUpRun
from tests.campaigns.crash.scenarios import SCENARIOS, Scenario
from tests.campaigns.crash.simulated import SimulatedRun, memory_ports
from tests.campaigns.crash.stories import STORIES
from tests.contracts.conftest import Stores

Case = Callable[..., Awaitable[list[str]]]
"""Takes `stores` of an empty deployment, how many deliveries come `together`, and what is called when the run `begins` and
`ends`; returns what is not as it has to be."""


async def list_cases() -> Mapping[str, Case]:
    """Return the cases by name: every scenario of executions, kind of job and story of people, and the import."""
    archive = await build_archive()
    return {
        **{scenario.name: partial(_run_scenario, scenario) for scenario in SCENARIOS},
        **{kind.value: partial(_run_job, kind) for kind in JobKind},
        **{story: partial(_run_requests, partial(PeopleRun, story=story)) for story in STORIES},
        "roll-up": partial(_run_requests, RollUpRun),
        "import": partial(_run_requests, partial(ImportRun, archive=archive)),
    }


async def _run_scenario(scenario: Scenario, *, stores: Stores, together: int, **hooks: Callable[[], None]) -> list[str]:
    ports = Ports(**{field.name: getattr(stores, field.name) for field in dataclasses.fields(Ports)})
    # what files have to be like is known from a run that nothing interrupts
    whole = None if scenario.files is None else await SimulatedRun(scenario=scenario, ports=memory_ports(Memory())).perform()
    return find_broken(await SimulatedRun(scenario=scenario, ports=ports, **hooks).perform(together=together), whole)


async def _run_job(kind: JobKind, **fields: Any) -> list[str]:
    run = JobRun(kind=kind, **fields)
    return await find_broken_job(run, await run.perform())


async def _run_requests(make: Callable[..., PeopleRun | RollUpRun], **fields: Any) -> list[str]:
    return await make(**fields).perform()
