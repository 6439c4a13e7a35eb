"""Owners: kept as they were put, and found by the digest of a key."""

from __future__ import annotations

from dataclasses import replace

from .conftest import Doors
from .values import NOW, OWNER


async def test_an_owner_comes_back_as_it_was_put(doors: Doors) -> None:
    assert await doors.owners.get("ann") is None
    await doors.owners.put(OWNER)
    assert await doors.owners.get("ann") == OWNER
    await doors.owners.put(replace(OWNER, plan="pro"))
    assert await doors.owners.get("ann") == replace(OWNER, plan="pro")


async def test_a_key_is_found_by_its_digest(doors: Doors) -> None:
    assert await doors.owners.by_key("a" * 64) is None
    await doors.owners.add_key("a" * 64, "ann", NOW)
    await doors.owners.add_key("b" * 64, "ann", NOW)
    assert [await doors.owners.by_key(letter * 64) for letter in "abc"] == ["ann", "ann", None]
