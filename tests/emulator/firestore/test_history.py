"""History: an hour of it is kept, and what nothing can read any more is forgotten."""

from datetime import timedelta

import pytest
from google.api_core import exceptions
from google.cloud.firestore import AsyncClient

from emulator.firestore.history import History, Version
from emulator.firestore.limits import READ_TIME_MICROS
from emulator.firestore.wire import Document

ROOT = "projects/p/databases/d/documents"
START = 10**15


def version(name: str, at: int, *, deleted: bool = False) -> Version:
    return Version(name=f"{ROOT}/{name}", at=at, document=None if deleted else Document(name=f"{ROOT}/{name}"))


def test_a_document_deleted_more_than_an_hour_ago_leaves_nothing_behind() -> None:
    history = History("projects/p/databases/d", horizon=0)
    history.add(version("c/gone", START))
    history.add(version("c/gone", START + 1, deleted=True))
    history.add(version("other/d", START + 2 + READ_TIME_MICROS))
    assert list(history.collections) == [f"{ROOT}/other"]


def test_the_last_hour_can_be_read_at_any_moment() -> None:
    history = History("projects/p/databases/d", horizon=0)
    moments = [START + n * READ_TIME_MICROS // 4 for n in range(10)]
    for at in moments:
        history.add(version("c/d", at))
    for at in moments[-5:]:
        document = history.get(f"{ROOT}/c/d", at)
        assert document is not None
        assert document.at == at
    assert len(history.collections[f"{ROOT}/c"][f"{ROOT}/c/d"]) <= 6


async def test_a_transaction_older_than_the_history_is_aborted(client: AsyncClient, clock) -> None:
    await client.document("c/d").set({"n": 1})
    transaction = client.transaction()
    await transaction._begin()
    await client.document("c/d").get(transaction=transaction)
    await client.document("c/e").set({"n": 1})
    clock.now += timedelta(hours=2)
    await client.document("c/f").set({"n": 1})
    transaction.set(client.document("c/g"), {})
    with pytest.raises(exceptions.Aborted):
        await transaction._commit()
