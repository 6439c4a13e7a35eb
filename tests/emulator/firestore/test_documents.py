"""Documents: what is written is what is read, and what is refused is refused as production does."""

from datetime import timedelta
from math import isnan

import pytest
from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore import AsyncClient
from google.cloud.firestore_v1.services.firestore import FirestoreAsyncClient
from google.cloud.firestore_v1.types import Document, Value


async def test_a_document_is_read_as_it_was_set(client: AsyncClient) -> None:
    content = {"text": "é\0", "n": 1, "x": 1.5, "none": None, "yes": True, "raw": b"\xff", "list": [1, {"a": []}], "map": {}}
    await client.document("c/d").set(content)
    assert (await client.document("c/d").get()).to_dict() == content


async def test_a_missing_document_does_not_exist(client: AsyncClient) -> None:
    assert not (await client.document("c/d").get()).exists


async def test_creating_what_exists_is_already_exists(client: AsyncClient) -> None:
    await client.document("c/d").create({})
    with pytest.raises(exceptions.AlreadyExists):
        await client.document("c/d").create({})


async def test_updating_what_is_missing_is_not_found(client: AsyncClient) -> None:
    with pytest.raises(exceptions.NotFound):
        await client.document("c/d").update({"a": 1})


async def test_an_update_touches_only_the_fields_it_names(client: AsyncClient) -> None:
    document = client.document("c/d")
    await document.set({"a": {"b": 1, "c": 2}, "d": 3})
    await document.update({"a.b": 4, "d": firestore.DELETE_FIELD, "e.f": 5})
    assert (await document.get()).to_dict() == {"a": {"b": 4, "c": 2}, "e": {"f": 5}}


async def test_a_merge_keeps_what_it_does_not_name(client: AsyncClient) -> None:
    document = client.document("c/d")
    await document.set({"a": 1, "b": 2})
    await document.set({"b": 3}, merge=True)
    assert (await document.get()).to_dict() == {"a": 1, "b": 3}


async def test_field_names_may_hold_dots_quotes_and_backslashes(client: AsyncClient) -> None:
    document, name = client.document("c/d"), "a.b`c\\d"
    await document.set({name: 1, "z": 1})
    await document.update({client.field_path(name): 2})
    assert (await document.get()).to_dict() == {name: 2, "z": 1}


async def test_a_stale_update_time_is_a_failed_precondition(client: AsyncClient) -> None:
    document = client.document("c/d")
    stale = await document.set({"a": 1})
    await document.set({"a": 2})
    with pytest.raises(exceptions.FailedPrecondition):
        await document.update({"a": 3}, option=client.write_option(last_update_time=stale.update_time))


async def test_an_update_time_of_what_is_missing_is_a_failed_precondition(client: AsyncClient, clock) -> None:
    option = client.write_option(last_update_time=clock.now)
    with pytest.raises(exceptions.FailedPrecondition):
        await client.document("c/d").update({"a": 3}, option=option)


async def test_an_update_time_in_the_future_is_invalid(client: AsyncClient) -> None:
    document = client.document("c/d")
    written = await document.set({"a": 1})
    future = written.update_time + timedelta(days=1)
    with pytest.raises(exceptions.InvalidArgument):
        await document.delete(option=client.write_option(last_update_time=future))


async def test_a_write_that_changes_nothing_keeps_the_update_time(client: AsyncClient) -> None:
    first = await client.document("c/d").set({"a": 1})
    second = await client.document("c/d").set({"a": 1})
    assert second.update_time == first.update_time


async def test_a_transform_that_changes_nothing_keeps_the_update_time(client: AsyncClient) -> None:
    first = await client.document("c/d").set({"a": 1, "tags": ["x"]})
    second = await client.document("c/d").update({"a": firestore.Maximum(1), "tags": firestore.ArrayUnion(["x"])})
    assert second.update_time == first.update_time


async def test_a_replaced_document_keeps_its_create_time(client: AsyncClient) -> None:
    await client.document("c/d").set({"a": 1})
    before = await client.document("c/d").get()
    await client.document("c/d").set({"a": 2})
    after = await client.document("c/d").get()
    assert after.create_time == before.create_time < after.update_time


@pytest.mark.parametrize(
    ("stored", "transform", "remaining"),
    [
        (1, firestore.Increment(2), 3),
        (1, firestore.Increment(0.5), 1.5),
        ("text", firestore.Increment(2), 2),
        (2**63 - 1, firestore.Increment(1), 2**63 - 1),
        (-(2**63), firestore.Increment(-1), -(2**63)),
        (1, firestore.Maximum(3), 3),
        (5, firestore.Maximum(3.0), 5),
        (5, firestore.Minimum(3.5), 3.5),
        ("text", firestore.Minimum(3), 3),
        (float("nan"), firestore.Maximum(3), "NaN"),
        (3, firestore.Maximum(float("nan")), "NaN"),
        (3, firestore.Minimum(float("nan")), "NaN"),
        ([1, 2], firestore.ArrayUnion([2, 2.0, 3, 3]), [1, 2, 3]),
        ("text", firestore.ArrayUnion([1]), [1]),
        ([1, 2, 1, "1"], firestore.ArrayRemove([1]), [2, "1"]),
    ],
)
async def test_a_transform_is_computed_by_the_server(client: AsyncClient, stored: object, transform: object, remaining: object):
    document = client.document("c/d")
    await document.set({"a": stored})
    await document.update({"a": transform})
    result = (await document.get()).to_dict()["a"]
    if remaining == "NaN":
        assert isnan(result)
    else:
        assert (result, type(result)) == (remaining, type(remaining))


async def test_the_server_timestamp_is_the_update_time(client: AsyncClient) -> None:
    document = client.document("c/d")
    written = await document.set({"at": firestore.SERVER_TIMESTAMP})
    assert (await document.get()).to_dict()["at"] == written.update_time


async def test_a_batch_is_written_whole_or_not_at_all(client: AsyncClient) -> None:
    batch = client.batch()
    batch.set(client.document("c/a"), {})
    batch.update(client.document("c/missing"), {"a": 1})
    with pytest.raises(exceptions.NotFound):
        await batch.commit()
    assert not (await client.document("c/a").get()).exists


async def test_writes_of_one_batch_see_each_other(client: AsyncClient) -> None:
    batch = client.batch()
    batch.create(client.document("c/a"), {"n": 1})
    batch.update(client.document("c/a"), {"n": firestore.Increment(1)})
    await batch.commit()
    assert (await client.document("c/a").get()).to_dict() == {"n": 2}


def nested(depth: int) -> dict[str, object]:
    return {"a": nested(depth - 1)} if depth else {}


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("c/d", {"a": "x" * 1_048_576}),
        ("c/d", {"a": [[1]]}),
        ("c/d", {"a": nested(21)}),
        ("c/d", {"__reserved__": 1}),
        ("c/__reserved__", {}),
        ("__reserved__/d", {}),
        ("c/" + "x" * 1501, {}),
    ],
    ids=["over 1 MiB", "nested array", "too deep", "reserved field", "reserved id", "reserved collection", "long id"],
)
async def test_what_cannot_be_stored_is_invalid(client: AsyncClient, path: str, content: dict[str, object]) -> None:
    with pytest.raises(exceptions.InvalidArgument):
        await client.document(path).set(content)


async def test_a_document_of_exactly_one_mebibyte_is_stored(client: AsyncClient) -> None:
    name_and_document, field, string = 16 + len("c") + 1 + len("d") + 1 + 32, len("a") + 1, 1
    await client.document("c/d").set({"a": "x" * (1_048_576 - name_and_document - field - string)})
    with pytest.raises(exceptions.InvalidArgument):
        await client.document("c/d").set({"a": "x" * (1_048_576 - name_and_document - field)})


async def test_more_than_five_hundred_transforms_of_a_document_are_invalid(client: AsyncClient) -> None:
    await client.document("c/d").set({f"f{n}": firestore.Increment(1) for n in range(500)})
    with pytest.raises(exceptions.InvalidArgument):
        await client.document("c/d").set({f"f{n}": firestore.Increment(1) for n in range(501)})


async def test_a_request_of_more_than_ten_mebibytes_is_invalid(client: AsyncClient) -> None:
    batch = client.batch()
    for n in range(11):
        batch.set(client.document(f"c/{n}"), {"a": "x" * 1_000_000})
    with pytest.raises(exceptions.InvalidArgument):
        await batch.commit()


async def test_many_documents_are_read_at_once_and_missing_ones_named(client: AsyncClient) -> None:
    await client.document("c/a").set({"n": 1, "m": 2})
    references = [client.document("c/a"), client.document("c/b")]
    result = {s.id: s.to_dict() async for s in client.get_all(references, field_paths=["n"])}
    assert result == {"a": {"n": 1}, "b": None}


async def test_a_read_in_the_past_sees_the_past(client: AsyncClient) -> None:
    document = client.document("c/d")
    first = await document.set({"n": 1})
    await document.set({"n": 2})
    await document.delete()
    assert (await document.get(read_time=first.update_time)).to_dict() == {"n": 1}


async def test_a_read_further_back_than_an_hour_is_refused(client: AsyncClient, clock) -> None:
    first = await client.document("c/d").set({"n": 1})
    clock.now += timedelta(hours=1, seconds=1)
    with pytest.raises(exceptions.FailedPrecondition):
        await client.document("c/d").get(read_time=first.update_time)


async def test_a_read_in_the_future_is_invalid(client: AsyncClient, clock) -> None:
    with pytest.raises(exceptions.InvalidArgument):
        await client.document("c/d").get(read_time=clock.now + timedelta(days=1))


async def test_collections_are_listed_under_the_root_and_under_documents(client: AsyncClient) -> None:
    await client.document("a/x/b/y/c/z").set({})
    await client.document("d/x").set({})
    assert [c.id async for c in client.collections()] == ["a", "d"]
    assert [c.id async for c in client.document("a/x").collections()] == ["b"]


async def test_an_emptied_collection_is_listed_no_more(client: AsyncClient) -> None:
    await client.document("a/x").set({})
    await client.document("a/x").delete()
    assert [c.id async for c in client.collections()] == []


async def test_documents_are_listed_in_pages_with_those_that_only_hold_others(client: AsyncClient) -> None:
    for path in ("c/1", "c/3/sub/x", "c/2", "other/1"):
        await client.document(path).set({})
    assert [d.id async for d in client.collection("c").list_documents(page_size=2)] == ["1", "2", "3"]


async def test_databases_and_projects_are_apart(client: AsyncClient, stub: FirestoreAsyncClient) -> None:
    await client.document("c/d").set({})
    parent = "projects/other/databases/(default)/documents"
    pager = await stub.list_documents({"parent": parent, "collection_id": "c"})
    assert [d async for d in pager] == []


async def test_one_document_is_created_read_updated_and_deleted_by_its_own_calls(stub: FirestoreAsyncClient) -> None:
    parent = "projects/p/databases/other/documents"
    content = Document(fields={"a": Value(integer_value=1), "b": Value(integer_value=2)})
    created = await stub.create_document({"parent": parent, "collection_id": "c", "document": content})
    content.name = created.name
    content.fields["a"] = Value(integer_value=3)
    await stub.update_document({"document": content, "update_mask": {"field_paths": ["a"]}})
    result = await stub.get_document({"name": created.name, "mask": {"field_paths": ["a"]}})
    assert list(result.fields) == ["a"]
    assert result.fields["a"].integer_value == 3
    await stub.delete_document({"name": created.name})
    with pytest.raises(exceptions.NotFound):
        await stub.get_document({"name": created.name})


async def test_a_batch_write_reports_each_write_by_itself(stub: FirestoreAsyncClient) -> None:
    database = "projects/p/databases/(default)"
    writes = [
        {"update": {"name": f"{database}/documents/c/a"}},
        {"update": {"name": f"{database}/documents/c/b"}, "current_document": {"exists": True}},
    ]
    response = await stub.batch_write({"database": database, "writes": writes})
    assert [status.code for status in response.status] == [0, 5]


async def test_a_name_of_another_database_is_invalid(stub: FirestoreAsyncClient) -> None:
    writes = [{"update": {"name": "projects/q/databases/(default)/documents/c/a"}}]
    with pytest.raises(exceptions.InvalidArgument):
        await stub.commit({"database": "projects/p/databases/(default)", "writes": writes})


async def test_a_call_that_does_not_exist_here_is_unimplemented(stub: FirestoreAsyncClient) -> None:
    with pytest.raises(exceptions.MethodNotImplemented):
        async for _ in await stub.execute_pipeline({"database": "projects/p/databases/(default)"}):
            pass
