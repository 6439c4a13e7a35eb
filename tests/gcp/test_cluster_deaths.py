"""Declared tools whose instance dies between two of their writes: a deletion, before or after it, leaves nothing of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from ferryman.domain.jobs.job import JobKind
from ferryman.domain.stale import StaleError
from ferryman.gcp.clusters import FirestoreClusters
from ferryman.stack.inventory import list_documents
from tests.contracts.belongings import build_job, fill
from tests.contracts.conftest import Stores, on_google_cloud
from tests.contracts.test_clusters import PET
from tests.contracts.test_jobs import claim, delete_all

from .test_archive_deaths import DeathError

EVERY_DELETION = pytest.mark.parametrize(
    ("kind", "subject"), [(JobKind.DELETE_WORKSPACE, "ws_1"), (JobKind.DELETE_AGENT, "agent_1")]
)


class DyingClusters(FirestoreClusters):
    """An instance that dies once it has written the parts."""

    async def _put(self, *_: Any) -> Any:
        raise DeathError


@pytest.fixture
async def stores() -> AsyncIterator[Stores]:
    async with on_google_cloud() as stores:
        await fill(stores)
        yield stores


async def put(stores: Stores, *, expected: type[BaseException]) -> None:
    with pytest.raises(expected):
        await DyingClusters(stores.executions._clients).put("task_ws_1", "late", [PET], since=0)


async def list_parts(stores: Stores) -> list[str]:
    return [path for path, _ in await list_documents(stores.executions._clients) if path.startswith("tasks/")]


@EVERY_DELETION
async def test_the_parts_that_it_has_written_go_with_the_task(stores: Stores, kind: JobKind, subject: str) -> None:
    await put(stores, expected=DeathError)
    await delete_all(stores, await claim(stores, build_job(kind, subject)), most=2)
    assert await list_parts(stores) == []


@EVERY_DELETION
async def test_once_its_task_was_looked_through_it_writes_none(stores: Stores, kind: JobKind, subject: str) -> None:
    job = await claim(stores, build_job(kind, subject))
    before = await list_parts(stores)
    await put(stores, expected=StaleError)
    assert await list_parts(stores) == before
    await delete_all(stores, job, most=2)
    await put(stores, expected=StaleError)
    assert await list_parts(stores) == []


async def test_under_a_task_that_is_deleted_alone_it_writes_none(stores: Stores) -> None:
    await put(stores, expected=DeathError)
    await stores.tasks.delete("task_ws_1")
    await put(stores, expected=StaleError)
    assert await list_parts(stores) == []
