"""Queries: what matches, in what order, and which part of it."""

import pytest
from google.api_core import exceptions
from google.cloud.firestore import And, AsyncClient, FieldFilter, Or
from google.cloud.firestore_v1.async_query import AsyncQuery
from google.cloud.firestore_v1.base_query import BaseFilter
from google.cloud.firestore_v1.field_path import FieldPath
from google.cloud.firestore_v1.services.firestore import FirestoreAsyncClient

PEOPLE = {
    "ada": {"age": 36, "tags": ["a", "b"], "home": {"town": "London"}, "note": None},
    "bob": {"age": 41, "tags": ["b"], "home": {"town": "Paris"}, "note": "x"},
    "cyd": {"age": 36, "tags": [], "home": {"town": "Athens"}, "note": float("nan")},
    "dan": {"age": "unknown", "tags": "b", "note": 1},
    "eve": {"tags": ["c"]},
}


@pytest.fixture
async def people(client: AsyncClient) -> AsyncQuery:
    batch = client.batch()
    for name, person in PEOPLE.items():
        batch.set(client.document(f"people/{name}"), person)
    await batch.commit()
    return client.collection("people")


async def ids(query: AsyncQuery) -> list[str]:
    return [snapshot.id async for snapshot in query.stream()]


@pytest.mark.parametrize(
    ("where", "names"),
    [
        (FieldFilter("age", "==", 36.0), "ada cyd"),
        (FieldFilter("age", ">", 36), "bob"),
        (FieldFilter("age", ">=", 36), "ada cyd bob"),
        (FieldFilter("age", "<", 41), "ada cyd"),
        (FieldFilter("age", "!=", 36), "bob dan"),
        (FieldFilter("age", "in", [41, "unknown"]), "bob dan"),
        (FieldFilter("age", "not-in", [36]), "bob dan"),
        (FieldFilter("tags", "array_contains", "b"), "ada bob"),
        (FieldFilter("tags", "array_contains_any", ["a", "c"]), "ada eve"),
        (FieldFilter("tags", "==", ["b"]), "bob"),
        (FieldFilter("home.town", ">", "London"), "bob"),
        (FieldFilter("home", "==", {"town": "Athens"}), "cyd"),
        (FieldFilter("note", "==", None), "ada"),
        (FieldFilter("note", "==", float("nan")), "cyd"),
        (FieldFilter("note", "!=", None), "cyd dan bob"),
        (FieldFilter("note", "!=", float("nan")), "dan bob"),
        (FieldFilter("note", "in", [None, 1]), "dan"),
        (FieldFilter("note", "not-in", [None, 1]), ""),
        (And([FieldFilter("age", "==", 36), FieldFilter("tags", "array_contains", "a")]), "ada"),
        (Or([FieldFilter("age", "==", 41), FieldFilter("tags", "array_contains", "c")]), "bob eve"),
        (Or([FieldFilter("age", "==", 41), And([FieldFilter("age", ">", 1), FieldFilter("note", "==", None)])]), "ada bob"),
        (FieldFilter("age", ">", True), ""),
    ],
)
async def test_a_filter_finds_what_it_names(people: AsyncQuery, where: BaseFilter, names: str) -> None:
    assert await ids(people.where(filter=where)) == names.split()


async def test_a_name_can_be_filtered_by(people: AsyncQuery) -> None:
    query = people.where(filter=FieldFilter(FieldPath.document_id(), ">=", people.document("dan")))
    assert await ids(query) == ["dan", "eve"]


@pytest.mark.parametrize(
    "where",
    [
        FieldFilter("age", "in", list(range(31))),
        FieldFilter("age", "not-in", list(range(11))),
        And([FieldFilter("tags", "array_contains", "a"), FieldFilter("tags", "array_contains", "b")]),
        And([FieldFilter("age", "in", list(range(6))), FieldFilter("note", "in", list(range(6)))]),
        And([FieldFilter("age", "not-in", [1]), FieldFilter("note", "in", [1])]),
        And([FieldFilter("age", "not-in", [1]), FieldFilter("age", "!=", 2)]),
    ],
    ids=["31 IN values", "11 NOT_IN values", "two array-contains", "36 disjunctions", "not-in with in", "not-in with !="],
)
async def test_a_filter_that_production_refuses_is_invalid(people: AsyncQuery, where: BaseFilter) -> None:
    with pytest.raises(exceptions.InvalidArgument):
        await ids(people.where(filter=where))


async def test_only_documents_with_the_field_sorted_by_are_found(people: AsyncQuery) -> None:
    assert await ids(people.order_by("age")) == ["ada", "cyd", "bob", "dan"]


async def test_the_name_breaks_ties_in_the_last_direction(people: AsyncQuery) -> None:
    assert await ids(people.order_by("age", direction="DESCENDING")) == ["dan", "bob", "cyd", "ada"]


async def test_inequalities_on_two_fields_sort_by_both(client: AsyncClient) -> None:
    for name, a, b in (("x", 2, 1), ("y", 1, 2), ("z", 1, 1)):
        await client.document(f"c/{name}").set({"a": a, "b": b})
    query = client.collection("c").where(filter=FieldFilter("b", ">", 0)).where(filter=FieldFilter("a", ">", 0))
    assert await ids(query) == ["z", "y", "x"]


async def test_cursors_include_or_exclude_their_document(people: AsyncQuery) -> None:
    cyd = await people.document("cyd").get()
    query = people.order_by("age")
    assert await ids(query.start_at(cyd)) == ["cyd", "bob", "dan"]
    assert await ids(query.start_after(cyd)) == ["bob", "dan"]
    assert await ids(query.end_at(cyd)) == ["ada", "cyd"]
    assert await ids(query.end_before(cyd)) == ["ada"]


async def test_a_cursor_of_fewer_values_compares_by_those(people: AsyncQuery) -> None:
    assert await ids(people.order_by("age").order_by("note").start_after({"age": 36})) == ["bob", "dan"]


async def test_offset_limit_and_limit_to_last_cut_the_result(people: AsyncQuery) -> None:
    query = people.order_by("age")
    assert await ids(query.offset(1).limit(2)) == ["cyd", "bob"]
    assert [s.id for s in await query.limit_to_last(2).get()] == ["bob", "dan"]


async def test_a_projection_gives_the_fields_it_names(people: AsyncQuery) -> None:
    query = people.where(filter=FieldFilter("age", "==", 41)).select(["home.town", "missing"])
    assert [s.to_dict() async for s in query.stream()] == [{"home": {"town": "Paris"}}]


async def test_a_collection_group_is_found_at_every_depth(client: AsyncClient) -> None:
    for path in ("steps/a", "x/1/steps/b", "x/1/y/2/steps/c", "x/1/other/d"):
        await client.document(path).set({"n": 1})
    assert await ids(client.collection_group("steps").where(filter=FieldFilter("n", "==", 1))) == ["a", "b", "c"]


async def test_a_recursive_query_finds_all_below_a_collection(client: AsyncClient) -> None:
    for path in ("x/1", "x/1/y/2", "x/1/y/2/z/3", "xx/1"):
        await client.document(path).set({})
    assert await ids(client.collection("x").recursive()) == ["1", "2", "3"]


async def test_numeric_ids_sort_before_all_others(client: AsyncClient) -> None:
    for name in ("b", "__id10__", "__id9__", "a"):
        await client.document(f"c/{name}").set({})
    assert await ids(client.collection("c")) == ["__id9__", "__id10__", "a", "b"]


async def test_aggregates_count_sum_and_average(people: AsyncQuery) -> None:
    query = people.count(alias="all")
    assert (await query.get())[0][0].value == 5
    query = people.sum("age", alias="sum").avg("age", alias="mean").count(alias="with the field")
    assert {r.alias: r.value for r in (await query.get())[0]} == {"sum": 113, "mean": 113 / 3, "with the field": 4}


async def test_an_average_of_nothing_is_null(stub: FirestoreAsyncClient) -> None:
    aggregation = {"alias": "mean", "avg": {"field": {"field_path": "n"}}}
    query = {"structured_query": {"from_": [{"collection_id": "none"}]}, "aggregations": [aggregation]}
    parent = "projects/p/databases/(default)/documents"
    responses = await stub.run_aggregation_query({"parent": parent, "structured_aggregation_query": query})
    assert ["null_value" in r.result.aggregate_fields["mean"] async for r in responses] == [True]


async def test_partitions_cover_a_collection_group_exactly(client: AsyncClient) -> None:
    for n in range(20):
        await client.document(f"x/{n:02}/g/doc").set({})
    partitions = [partition async for partition in client.collection_group("g").get_partitions(3)]
    assert len(partitions) == 4
    names = [s.reference.path for partition in partitions for s in await partition.query().get()]
    assert names == [f"x/{n:02}/g/doc" for n in range(20)]


async def test_a_query_in_the_past_sees_the_past(client: AsyncClient) -> None:
    written = await client.document("c/a").set({"n": 1})
    await client.document("c/b").set({"n": 1})
    await client.document("c/a").delete()
    past = client.collection("c").stream(read_time=written.update_time)
    assert [s.id async for s in past] == ["a"]
