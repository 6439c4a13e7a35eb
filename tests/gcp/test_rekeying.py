"""A new API key for an owner: it opens, every earlier one opens nothing any more, and nobody else's changes."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ferryman.gcp.owners import FirestoreOwners
from tests.doors.conftest import on_google_cloud
from tests.doors.values import LATER, NOW, OWNER


@pytest.fixture
async def owners() -> AsyncIterator[FirestoreOwners]:
    async with on_google_cloud() as doors:
        assert isinstance(doors.owners, FirestoreOwners)
        for digest, owner in (("first", "ann"), ("second", "ann"), ("other", "bob")):
            await doors.owners.add_key(digest, owner, NOW)
        yield doors.owners


async def test_the_new_key_is_the_only_one(owners: FirestoreOwners) -> None:
    await owners.put(OWNER)
    await owners.rekey("ann", "new", LATER)
    assert [await owners.by_key(each) for each in ("first", "second", "other", "new")] == [None, None, "bob", "ann"]


async def test_nobody_is_locked_out_by_a_name_that_is_no_owners(owners: FirestoreOwners) -> None:
    with pytest.raises(KeyError):
        await owners.rekey("ann", "new", LATER)
    assert [await owners.by_key(each) for each in ("first", "new")] == ["ann", None]
