"""Indexes: a query that production would refuse for want of an index is refused here, with the index it wants."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.api_core import exceptions
from google.cloud.firestore import And, AsyncClient, FieldFilter, Or
from google.cloud.firestore_v1.async_query import AsyncQuery
from google.cloud.firestore_v1.base_vector_query import DistanceMeasure
from google.cloud.firestore_v1.field_path import FieldPath
from google.cloud.firestore_v1.vector import Vector

from emulator.firestore import FirestoreEmulator

from .conftest import Clock, connected, serving

NAME = FieldPath.document_id()
Make = Callable[[AsyncClient], Any]


def where(field: str, operator: str, value: object) -> Callable[[AsyncQuery], AsyncQuery]:
    return lambda query: query.where(filter=FieldFilter(field, operator, value))


def by(field: str, direction: str = "ASCENDING") -> Callable[[AsyncQuery], AsyncQuery]:
    return lambda query: query.order_by(field, direction=direction)


def c(*steps: Callable[[AsyncQuery], AsyncQuery], group: bool = False) -> Make:
    """Return a query of the collection, or the collection group, c."""

    def make(client: AsyncClient) -> AsyncQuery:
        query = client.collection_group("c") if group else client.collection("c")
        for step in steps:
            query = step(query)
        return query

    return make


def field(path: str, mode: str = "ASCENDING") -> dict[str, str]:
    return {"fieldPath": path, "arrayConfig" if mode == "CONTAINS" else "order": mode}


def composite(*fields: dict[str, Any], scope: str = "COLLECTION") -> dict[str, Any]:
    return {"collectionGroup": "c", "queryScope": scope, "fields": list(fields)}


async def run(tmp_path: Path, make: Make, *declared: dict[str, Any], overrides: tuple[dict[str, Any], ...] = ()) -> Any:
    """Return the index that a query wants beside those declared, None when it is served."""
    file = tmp_path / "indexes.json"
    file.write_text(json.dumps({"indexes": declared, "fieldOverrides": overrides}))
    async with serving(clock=Clock(), indexes=file) as served, connected(served.address) as client:
        try:
            await make(client).get()
        except exceptions.FailedPrecondition as error:
            text = error.message
        else:
            return None
    assert text.startswith("The query requires an index.")
    return json.loads(text[text.index("{") :])


@pytest.mark.parametrize(
    "make",
    [
        c(),
        c(where("a", "==", 1)),
        c(where("a", "==", 1), where("b", "==", 2), where("c", "==", None)),
        c(where("a", "==", 1), where("tags", "array_contains", "x")),
        c(where("a", ">", 1)),
        c(where("a", ">", 1), where("a", "<", 9), by("a", "DESCENDING")),
        c(by("a", "DESCENDING")),
        c(where("a", "in", [1, 2])),
        c(where("a", "not-in", [1, 2])),
        c(where("a", "==", 1), by("a")),
        c(where("a", "==", 1), by(NAME, "DESCENDING")),
        c(where("a", "==", 1), by(NAME)),
        c(lambda query: query.where(filter=Or([FieldFilter("a", "==", 1), FieldFilter("b", "==", 2)]))),
        c(group=True),
        lambda client: client.collection("c").recursive(),
        lambda client: client.collection("c").count(),
        lambda client: client.collection("c").sum("a"),
    ],
)
async def test_what_single_fields_can_serve_needs_no_declaration(tmp_path: Path, make: Make) -> None:
    assert await run(tmp_path, make) is None


A_THEN_B = composite(field("a"), field("b"))


@pytest.mark.parametrize(
    ("make", "index"),
    [
        (c(where("a", "==", 1), by("b")), A_THEN_B),
        (c(where("a", "==", 1), by("b", "DESCENDING")), composite(field("a"), field("b", "DESCENDING"))),
        (c(where("a", "==", 1), where("b", ">", 2)), A_THEN_B),
        (c(where("a", "==", 1), where("b", "!=", 2)), A_THEN_B),
        (c(where("a", "in", [1, 2]), by("b")), A_THEN_B),
        (c(by("a"), by("b")), A_THEN_B),
        (c(by("a"), by("b", "DESCENDING")), composite(field("a"), field("b", "DESCENDING"))),
        (c(where("b", ">", 1), where("a", ">", 1)), A_THEN_B),
        (c(where("tags", "array_contains", "x"), by("b")), composite(field("tags", "CONTAINS"), field("b"))),
        (
            c(where("tags", "array_contains", "x"), by(NAME, "DESCENDING")),
            composite(field("tags", "CONTAINS"), field("__name__", "DESCENDING")),
        ),
        (c(by(NAME, "DESCENDING")), composite(field("__name__", "DESCENDING"))),
        (c(by("a"), by(NAME, "DESCENDING")), composite(field("a"), field("__name__", "DESCENDING"))),
        (c(where("a", "==", 1), by("b"), group=True), composite(field("a"), field("b"), scope="COLLECTION_GROUP")),
        (
            c(
                lambda query: query.where(
                    filter=And([FieldFilter("a", "==", 1), Or([FieldFilter("b", ">", 1), FieldFilter("b", "==", 0)])])
                )
            ),
            A_THEN_B,
        ),
        (lambda client: client.collection("c").where(filter=FieldFilter("a", "==", 1)).sum("b"), A_THEN_B),
        (
            lambda client: client.collection("c").find_nearest("v", Vector([1.0, 2.0]), 3, DistanceMeasure.EUCLIDEAN),
            composite({"fieldPath": "v", "vectorConfig": {"dimension": 2, "flat": {}}}),
        ),
    ],
)
async def test_what_they_cannot_is_refused_until_the_named_index_is_declared(
    tmp_path: Path, make: Make, index: dict[str, Any]
) -> None:
    assert await run(tmp_path, make) == index
    assert await run(tmp_path, make, index) is None


@pytest.mark.parametrize(
    ("make", "mode"),
    [
        (c(where("a", "==", 1), group=True), "ASCENDING"),
        (c(by("a", "DESCENDING"), group=True), "DESCENDING"),
        (c(where("a", "array_contains", 1), group=True), "CONTAINS"),
    ],
)
async def test_a_collection_group_needs_even_a_single_field_declared(tmp_path: Path, make: Make, mode: str) -> None:
    index = await run(tmp_path, make)
    assert {**field("a", mode), "queryScope": "COLLECTION_GROUP"}.items() == {
        *index["indexes"][-1].items(),
        ("fieldPath", "a"),
    }
    assert await run(tmp_path, make, overrides=(index,)) is None


async def test_without_a_file_every_query_is_served(client: AsyncClient) -> None:
    assert await c(where("a", "==", 1), by("b"), by("z", "DESCENDING"), group=True)(client).get() == []


async def test_indexes_that_share_their_order_are_merged(tmp_path: Path) -> None:
    make = c(where("a", "==", 1), where("b", "==", 1), by("z"))
    assert await run(tmp_path, make, composite(field("a"), field("z"))) is not None
    assert await run(tmp_path, make, composite(field("a"), field("z")), composite(field("b"), field("z"))) is None


async def test_indexes_of_different_orders_are_not_merged(tmp_path: Path) -> None:
    make = c(where("a", "==", 1), where("b", "==", 1), by("z"))
    declared = composite(field("a"), field("z")), composite(field("b"), field("z", "DESCENDING"))
    assert await run(tmp_path, make, *declared) == composite(field("a"), field("b"), field("z"))


async def test_the_order_of_equalities_within_an_index_does_not_matter(tmp_path: Path) -> None:
    make = c(where("a", "==", 1), where("b", "==", 1), by("z"))
    assert await run(tmp_path, make, composite(field("b", "DESCENDING"), field("a"), field("z"))) is None


async def test_an_index_of_more_than_is_compared_does_not_serve(tmp_path: Path) -> None:
    assert await run(tmp_path, c(where("a", "==", 1), by("z")), composite(field("a"), field("b"), field("z"))) is not None


async def test_an_index_of_another_collection_does_not_serve(tmp_path: Path) -> None:
    other = {**A_THEN_B, "collectionGroup": "other"}
    assert await run(tmp_path, c(where("a", "==", 1), by("b")), other) == A_THEN_B


async def test_a_field_exempted_from_indexing_cannot_be_queried(tmp_path: Path) -> None:
    exempt = {"collectionGroup": "c", "fieldPath": "a", "indexes": []}
    for make in (c(where("a", "==", 1)), c(where("a.b", "==", 1))):
        assert await run(tmp_path, make, overrides=(exempt,)) is not None
    assert await run(tmp_path, c(where("b", "==", 1)), overrides=(exempt,)) is None


async def test_a_query_that_is_listened_to_is_refused_too(tmp_path: Path, clock: Clock) -> None:
    file = tmp_path / "indexes.json"
    file.write_text("{}")
    async with serving(clock=clock, indexes=file) as served, connected(served.address) as client:
        query = {
            "parent": f"{client._database_string}/documents",
            "structured_query": c(by("a"), by("b"))(client)._to_protobuf(),
        }

        async def requests() -> AsyncIterator[Any]:
            yield {"database": client._database_string, "add_target": {"query": query, "target_id": 7}}

        responses = await client._firestore_api.listen(requests(), metadata=client._rpc_metadata)
        causes = [response.target_change.cause.code async for response in responses]
    assert causes == [grpc.StatusCode.FAILED_PRECONDITION.value[0]]


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"indexes": [{}]}', '{"indexes": [{"collectionGroup": "c", "fields": [{"fieldPath": "a", "order": "UP"}]}]}'],
)
def test_a_file_that_is_none_of_indexes_is_refused_at_once(tmp_path: Path, content: str) -> None:
    file = tmp_path / "indexes.json"
    file.write_text(content)
    with pytest.raises(ValueError):
        FirestoreEmulator(path=None, indexes=file)
