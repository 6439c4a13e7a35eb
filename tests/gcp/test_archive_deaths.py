"""An import whose instance dies between two commits of history, and a deletion of its workspace after it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from ferryman.gcp.archives import FirestoreArchives
from ferryman.stack.inventory import list_documents
from tests.contracts.conftest import Stores, on_google_cloud
from tests.contracts.test_archives import ENDED, HISTORY, IMPORTED
from tests.contracts.test_jobs import claim, delete_all
from tests.contracts.values import open_workspaces


class DeathError(BaseException):
    """The process is gone."""


class DyingArchives(FirestoreArchives):
    """An instance that dies once it has announced the executions."""

    async def _commit(self, *_: Any) -> None:
        raise DeathError


@pytest.fixture
async def stores() -> AsyncIterator[Stores]:
    async with on_google_cloud() as stores:
        await open_workspaces(stores, "ws_1")
        yield stores


async def announce(stores: Stores) -> None:
    with pytest.raises(DeathError):
        await DyingArchives(stores.executions._clients).add_history([HISTORY], **ENDED)


async def list_executions(stores: Stores) -> list[str]:
    return [path for path, _ in await list_documents(stores.executions._clients) if path.startswith("executions/")]


async def test_what_was_stored_stays_when_the_next_attempt_dies(stores: Stores) -> None:
    await stores.archives.add_history([HISTORY], **ENDED)
    await announce(stores)
    assert await stores.executions.get(IMPORTED.id) == HISTORY.execution


@pytest.mark.parametrize("attempts", ["died", "stored, died", "died, stored", "died, died"])
async def test_a_deletion_leaves_nothing_of_it(stores: Stores, attempts: str) -> None:
    for attempt in attempts.split(", "):
        await (announce(stores) if attempt == "died" else stores.archives.add_history([HISTORY], **ENDED))
    assert await list_executions(stores) != []
    job = await delete_all(stores, await claim(stores), most=2)
    assert await list_executions(stores) == []
    assert job.counts.get("executions", 0) == attempts.count("stored")
    assert job.counts.get("refused_requests", 0) == 0


async def test_an_execution_that_is_announced_asks_for_no_run_and_is_not_listed(stores: Stores) -> None:
    await announce(stores)
    assert await stores.executions.get(IMPORTED.id) is None
    assert list(await stores.executions.list("ws_1")) == []
