"""Watching in process: every change of every commit, in order, with what was and what is."""

import pytest
from google.api_core import exceptions
from google.cloud.firestore import AsyncClient

from emulator.firestore import DocumentChange

from .conftest import Served


def to_rows(changes: list[DocumentChange]) -> list[tuple[str, int | None, int | None]]:
    def n(document) -> int | None:
        return None if document is None else document.fields["n"].integer_value

    return [(change.name.rsplit("/", 1)[1], n(change.before), n(change.after)) for change in changes]


async def test_a_listener_hears_of_each_change_in_commit_order(served: Served, client: AsyncClient) -> None:
    changes: list[DocumentChange] = []
    served.firestore.watch(changes.append)
    await client.document("c/d").set({"n": 1})
    await client.document("c/d").set({"n": 2})
    await client.document("c/d").delete()
    assert to_rows(changes) == [("d", None, 1), ("d", 1, 2), ("d", 2, None)]
    assert changes[0].name == f"projects/{client.project}/databases/(default)/documents/c/d"


async def test_two_writes_of_a_document_in_one_commit_are_one_change(served: Served, client: AsyncClient) -> None:
    changes: list[DocumentChange] = []
    served.firestore.watch(changes.append)
    batch = client.batch()
    batch.set(client.document("c/a"), {"n": 1})
    batch.set(client.document("c/b"), {"n": 1})
    batch.update(client.document("c/a"), {"n": 2})
    written = await batch.commit()
    assert to_rows(changes) == [("a", None, 2), ("b", None, 1)]
    assert {change.at for change in changes} == {written[0].update_time}


async def test_a_listener_hears_nothing_of_what_was_refused_or_changed_nothing(served: Served, client: AsyncClient) -> None:
    await client.document("c/d").set({"n": 1})
    changes: list[DocumentChange] = []
    served.firestore.watch(changes.append)
    await client.document("c/d").set({"n": 1})
    await client.document("c/missing").delete()
    with pytest.raises(exceptions.AlreadyExists):
        await client.document("c/d").create({"n": 2})
    assert changes == []
