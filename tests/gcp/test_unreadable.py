"""Documents somebody else wrote: they end where they stand, and come back to nobody."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ferryman.domain.executions.execution import Status
from ferryman.gcp import documents
from tests.builders import build_execution
from tests.contracts.conftest import on_google_cloud
from tests.contracts.values import put

NOW = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.fixture
async def stores():
    async with on_google_cloud() as stores:
        yield stores


def collection(stores):
    return stores.executions._clients.firestore().collection("executions")


@pytest.mark.parametrize(
    "document",
    [
        {"task": "t", "owner": "o"},
        {**documents.write(build_execution(id="victim", created_at=NOW))},
        {**documents.write(build_execution(id="poison", created_at=NOW)), "status": "odd"},
    ],
    ids=["half of it", "another's name", "an unknown status"],
)
async def test_an_execution_document_that_cannot_be_read_fails_in_place(stores, document):
    reference = collection(stores).document("poison")
    await reference.set(document)
    execution, is_ours = await stores.executions.claim("poison", slice=0, holder="h", now=NOW, lease=timedelta(seconds=60))
    assert (execution.status, is_ours) == (Status.FAILED, False)
    stored = (await reference.get()).to_dict()
    assert (stored["status"], stored["error"]) == ("failed", "the execution document is not readable")


async def test_it_is_in_nobodys_list(stores):
    await collection(stores).document("poison").set({"owner": "o", "task": "t", "created_at": NOW})
    await put(stores.tasks, stores.executions, build_execution(id="sound", created_at=NOW))
    assert [execution.id for execution in await stores.executions.list("o")] == ["sound"]
    assert await stores.executions.get("poison") is None


@pytest.mark.parametrize("created_at", ["yesterday", 7, NOW])
async def test_it_does_not_end_the_pages_before_the_sound_ones(stores, created_at):
    for number in range(3):
        poison = {"owner": "o", "task": "t", "created_at": created_at}
        await collection(stores).document(f"poison{number}").set(poison)
    await put(stores.tasks, stores.executions, build_execution(id="a-sound-one", created_at=NOW))
    after, listed = None, []
    for _ in range(5):
        page = await stores.executions.list("o", after=after, most=1)
        listed += [execution.id for execution in page]
        after = page.end
        if after is None:
            break
    assert (listed, after) == (["a-sound-one"], None)
