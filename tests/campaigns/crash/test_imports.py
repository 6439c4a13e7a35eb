"""Points of an import: killed there, or with the answer lost, the archive is there once, and wholly."""

from __future__ import annotations

import pytest

from tests.campaigns.crash.imports import GROWING, ImportRun, build_archive
from tests.contracts.conftest import in_memory, on_google_cloud

STEP, FIRESTORE_STEP, FILES_STEP = 17, 60, 3
"""Of the points in memory every seventeenth, on the Firestore protocol every sixtieth (`make crash` meets all of these), and of
those at which a file grows every third."""


@pytest.mark.parametrize("lost", [False, True], ids=["killed", "answer lost"])
async def test_at_any_point_an_archive_is_imported_once(*, lost: bool) -> None:
    archive = await build_archive()
    async with in_memory() as stores:
        whole = ImportRun(stores=stores, archive=archive, changed="b.md")
        assert await whole.perform() == []
    findings = []
    for point in whole.passed[::STEP]:
        async with in_memory() as stores:
            run = ImportRun(stores=stores, archive=archive, changed="b.md", target=point, lost=lost)
            findings += [f"{point}: {item}" for item in await run.perform()]
        assert run.hit, f"{point} was not reached"
    assert findings == []


async def test_on_the_protocol_of_firestore_an_archive_is_imported_once() -> None:
    archive = await build_archive()
    async with on_google_cloud() as stores:
        whole = ImportRun(stores=stores, archive=archive)
        assert await whole.perform() == []
    findings = []
    for number, point in enumerate(whole.passed[::FIRESTORE_STEP]):
        async with on_google_cloud() as stores:
            run = ImportRun(stores=stores, archive=archive, target=point, lost=number % 2 == 1)
            findings += [f"{point}: {item}" for item in await run.perform()]
        assert run.hit, f"{point} was not reached"
    assert findings == []


async def test_a_file_that_grows_part_by_part_is_there_once() -> None:
    archive = await build_archive(GROWING)
    async with in_memory() as stores:
        whole = ImportRun(stores=stores, archive=archive, contents=GROWING)
        assert await whole.perform() == []
    findings = []
    points = [point for point in whole.passed if point.operation.startswith("file")]
    for number, point in enumerate(points[::FILES_STEP]):
        async with in_memory() as stores:
            run = ImportRun(stores=stores, archive=archive, contents=GROWING, target=point, lost=number % 2 == 1)
            findings += [f"{point}: {item}" for item in await run.perform()]
        assert run.hit, f"{point} was not reached"
    assert findings == []
