"""Every point of every kind of job: killed there, it is still done once, with exact counts, and nothing else is touched."""

from __future__ import annotations

import pytest

from ferryman.domain.jobs.job import JobKind
from tests.campaigns.crash.jobs import JobRun, find_broken
from tests.campaigns.crash.sampling import sample
from tests.contracts.conftest import in_memory, on_google_cloud

EVERY_KIND = pytest.mark.parametrize("kind", JobKind)
MEMORY_MOST, FIRESTORE_STEP = 4, 120
"""So many points in memory, and on the Firestore protocol each hundred-and-twentieth; `make crash` meets all."""


@EVERY_KIND
async def test_killed_at_any_point_a_job_is_still_done_right(kind: JobKind) -> None:
    async with in_memory() as stores:
        whole = JobRun(stores=stores, kind=kind)
        assert await find_broken(whole, await whole.perform()) == []
    findings = []
    for number, point in sample([*enumerate(whole.passed)], MEMORY_MOST):
        async with in_memory() as stores:
            run = JobRun(stores=stores, kind=kind, target=point, together=1 + number % 2)
            broken = await find_broken(run, await run.perform())
        assert run.hit, f"{point} was not reached"
        findings += [f"{point}: {item}" for item in broken]
    assert findings == []


@EVERY_KIND
async def test_with_any_answer_lost_a_job_is_still_done_right(kind: JobKind) -> None:
    async with in_memory() as stores:
        whole = JobRun(stores=stores, kind=kind)
        await whole.perform()
    findings = []
    for number, point in sample([*enumerate(whole.passed)], MEMORY_MOST):
        async with in_memory() as stores:
            run = JobRun(stores=stores, kind=kind, target=point, lost=True, together=1 + number % 2)
            broken = await find_broken(run, await run.perform())
        findings += [f"{point}: {item}" for item in broken]
    assert findings == []


@EVERY_KIND
async def test_on_the_protocol_of_firestore_a_job_that_is_killed_is_done_right(kind: JobKind) -> None:
    async with on_google_cloud() as stores:
        whole = JobRun(stores=stores, kind=kind)
        assert await find_broken(whole, await whole.perform()) == []
    findings = []
    for number, point in [*enumerate(whole.passed)][::FIRESTORE_STEP]:
        async with on_google_cloud() as stores:
            run = JobRun(stores=stores, kind=kind, target=point, together=1 + number % 2)
            broken = await find_broken(run, await run.perform())
        assert run.hit, f"{point} was not reached"
        findings += [f"{point}: {item}" for item in broken]
    assert findings == []


@pytest.mark.parametrize("documents", [1, 3, 100])
async def test_slices_of_any_size_delete_the_same(documents: int) -> None:
    async with in_memory() as stores:
        run = JobRun(stores=stores, documents=documents)
        assert await find_broken(run, await run.perform()) == []
