"""Faults of Firestore: a commit that is executed and answered with an error is not taken for a fault, nor done twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from google.api_core.exceptions import AlreadyExists
from grpc import StatusCode

from ferryman.ports.errors import UnavailableError
from tests.builders import build_execution, build_task
from tests.campaigns.crash.cases import list_cases
from tests.campaigns.crash.conftest import Cloud
from tests.campaigns.crash.fault_injector import FAULTS, READING, InjectedFault
from tests.campaigns.crash.faults import Campaign
from tests.campaigns.crash.fixtures import Ports
from tests.campaigns.crash.invariants import find_broken
from tests.campaigns.crash.scenarios import SCENARIOS
from tests.campaigns.crash.simulated import SimulatedRun
from tests.contracts.conftest import Stores

LOST = InjectedFault(code=StatusCode.UNAVAILABLE, done=True)
STRIDE = 3
"""`make faults` injects every fault; the number at one call is no multiple of this, so that each kind occurs."""
UNKEYED = next(scenario for scenario in SCENARIOS if scenario.name == "unkeyed")


@pytest.mark.parametrize("call", ["BeginTransaction", "Commit"])
async def test_an_execution_ends_right_whatever_call_fails(cloud: Cloud, call: str) -> None:
    ports, injector = cloud.ports(), cloud.injector
    whole = SimulatedRun(scenario=UNKEYED, ports=ports, begins=lambda: injector.begin(None), ends=injector.end)
    await whole.perform()
    faults = [(call, nth, fault) for nth in range(injector.seen[call]) for fault in FAULTS[call]][::STRIDE]
    findings = []
    for about in faults:
        run = SimulatedRun(
            scenario=UNKEYED,
            ports=cloud.ports(),
            begins=lambda about=about: cloud.injector.begin(about),
            ends=cloud.injector.end,
        )
        outcome = await run.perform()
        assert cloud.injector.fired, f"{about} was not reached"
        findings += [f"{call}#{about[1]} {about[2]}: {item}" for item in find_broken(outcome)]
    assert findings == []


@pytest.mark.parametrize(
    ("name", "step"), [("end_executions", 40), ("delete_agent", 150), ("leave, and executions end", 50), ("import", 90)]
)
async def test_a_job_a_story_and_an_import_end_right_whatever_call_fails(name: str, step: int) -> None:
    campaign, cases = Campaign(), await list_cases()
    await campaign.meet(name, cases[name], step=step)
    assert campaign.injected
    assert campaign.findings == []


async def test_what_a_fault_breaks_is_told() -> None:
    async def read_once(*, stores: Stores, begins: Callable[[], None], ends: Callable[[], None], **_: object) -> list[str]:
        begins()
        try:
            await stores.tasks.get("t")
        except UnavailableError:
            return ["lost: it was not read"]
        finally:
            ends()
        return []

    campaign = Campaign()
    assert await campaign.meet("reading", read_once, step=1) == len(READING)
    assert campaign.findings == ["reading, BatchGetDocuments#0 RESOURCE_EXHAUSTED: lost: it was not read"]


EXECUTION = build_execution()


async def with_task(cloud: Cloud) -> Ports:
    ports = cloud.ports()
    task = build_task(model="scripted/x")
    await ports.tasks.create(task)
    return ports


async def test_a_creation_whose_answer_was_lost_is_done_once_and_not_refused(cloud: Cloud) -> None:
    executions = (await with_task(cloud)).executions
    cloud.injector.begin(("Commit", 0, LOST))
    await executions.start(EXECUTION, most=1)
    cloud.injector.end()
    assert (await executions.get("e"), cloud.injector.fired, cloud.injector.seen["Commit"]) == (EXECUTION, True, 2)


async def test_another_document_of_that_name_is_left_alone(cloud: Cloud) -> None:
    executions = (await with_task(cloud)).executions
    await executions.start(EXECUTION, most=9)
    with pytest.raises(AlreadyExists):
        await executions.start(replace(EXECUTION, owner="another"), most=9)
