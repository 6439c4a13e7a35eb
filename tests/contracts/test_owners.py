"""Owners: kept as they were put, and found by the digest of a key."""

from __future__ import annotations

from dataclasses import replace

from ferryman.domain.workspaces.api_key import ApiKey

from .conftest import Stores
from .values import NOW, OWNER


async def test_an_owner_comes_back_as_it_was_put(stores: Stores) -> None:
    assert await stores.owners.get("ann") is None
    await stores.owners.put(OWNER)
    assert await stores.owners.get("ann") == OWNER
    await stores.owners.put(replace(OWNER, plan="pro"))
    assert await stores.owners.get("ann") == replace(OWNER, plan="pro")


async def test_an_owners_own_key_is_found_by_its_digest(stores: Stores) -> None:
    assert await stores.keys.find("a" * 64) is None
    await stores.owners.add_key("a" * 64, "ann", NOW)
    await stores.owners.add_key("b" * 64, "ann", NOW)
    key = ApiKey(owner="ann", created_at=NOW)
    assert [await stores.keys.find(letter * 64) for letter in "abc"] == [key, key, None]
