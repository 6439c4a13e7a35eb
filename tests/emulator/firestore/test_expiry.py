"""Expiry: a document goes once the moment in its field has passed, where a policy names the field, and not otherwise."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from google.cloud.firestore import AsyncClient

from emulator.firestore import DocumentChange, expiry

from .conftest import Clock, Served, connected, serving

DAY = timedelta(days=1)
POLICY = {"collectionGroup": "c", "fieldPath": "go.at", "ttl": True, "indexes": []}


@pytest.fixture
async def served(clock: Clock, tmp_path: Path) -> AsyncIterator[Served]:
    file = tmp_path / "indexes.json"
    file.write_text(json.dumps({"indexes": [], "fieldOverrides": [POLICY, {**POLICY, "collectionGroup": "d", "ttl": False}]}))
    async with serving(clock=clock, indexes=file) as served:
        yield served


async def there(client: AsyncClient, *paths: str) -> list[str]:
    return [path for path in paths if (await client.document(path).get()).exists]


async def test_a_document_goes_when_its_time_has_passed_and_not_before(served: Served, client: AsyncClient, clock: Clock):
    await client.document("c/soon").set({"go": {"at": clock.now + DAY}})
    await client.document("c/later").set({"go": {"at": clock.now + 2 * DAY}})
    assert await served.firestore.expire() == 0
    clock.now += DAY
    assert await served.firestore.expire() == 1
    assert await there(client, "c/soon", "c/later") == ["c/later"]


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"go": {}},
        {"go": {"at": None}},
        {"go": {"at": "2020-01-01T00:00:00Z"}},
        {"go": {"at": 0}},
        {"at": Clock().now - DAY},
    ],
    ids=["nothing", "no field", "null", "text", "number", "another field"],
)
async def test_a_document_without_a_moment_in_the_field_stays(served: Served, client: AsyncClient, clock: Clock, document):
    await client.document("c/kept").set(document)
    clock.now += 365 * DAY
    assert await served.firestore.expire() == 0
    assert await there(client, "c/kept") == ["c/kept"]


async def test_collections_without_a_policy_keep_theirs(served: Served, client: AsyncClient, clock: Clock):
    for path in ("d/kept", "e/kept"):
        await client.document(path).set({"go": {"at": clock.now - DAY}})
    assert await served.firestore.expire() == 0


async def test_without_a_file_nothing_goes(clock: Clock):
    async with serving(clock=clock) as served, connected(served.address) as client:
        await client.document("c/kept").set({"go": {"at": clock.now - DAY}})
        assert await served.firestore.expire() == 0


async def test_a_policy_counts_at_any_depth_and_what_lies_below_stays(served: Served, client: AsyncClient, clock: Clock):
    for path in ("a/b/c/deep", "a/b/c/deep/d/below"):
        await client.document(path).set({"go": {"at": clock.now - DAY}})
    assert await served.firestore.expire() == 1
    assert await there(client, "a/b/c/deep", "a/b/c/deep/d/below") == ["a/b/c/deep/d/below"]


async def test_who_watches_sees_it_go(served: Served, client: AsyncClient, clock: Clock):
    await client.document("c/gone").set({"go": {"at": clock.now - DAY}})
    changes: list[DocumentChange] = []
    served.firestore.watch(changes.append)
    await served.firestore.expire()
    assert [(change.name.rsplit("/", 1)[1], change.after) for change in changes] == [("gone", None)]


async def test_a_document_that_is_given_more_time_while_it_is_looked_for_stays(
    served: Served, client: AsyncClient, clock: Clock
):
    await client.document("c/kept").set({"go": {"at": clock.now - DAY}})
    (due,) = expiry._find_due(served.firestore._store, {"c": "go.at"})
    await client.document("c/kept").set({"go": {"at": clock.now + DAY}})
    assert not await expiry._delete(served.firestore._databases, due)
    assert await there(client, "c/kept") == ["c/kept"]
