"""A new API key for an owner: it opens, every earlier one opens nothing any more, and nobody else's changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from ferryman.domain.console_sessions.session import build_session
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.person import INVITATION_LIFETIME, Invitation
from ferryman.gcp.api_keys import FirestoreApiKeys
from ferryman.gcp.console_sessions import FirestoreConsoleSessions
from ferryman.gcp.invitations import FirestoreInvitations
from ferryman.gcp.owners import FirestoreOwners
from tests.contracts.conftest import on_google_cloud
from tests.contracts.values import LATER, NOW, OWNER

INVITATION = Invitation(
    id="inv_1",
    owner="ann",
    workspace=derive_default_workspace("ann"),
    name="Eve",
    role=Role.VIEWER,
    invited_by="",
    created_at=NOW,
    expires_at=NOW + INVITATION_LIFETIME,
)


async def find_owner(owners: FirestoreOwners, digest: str) -> str | None:
    key = await FirestoreApiKeys(owners._clients).find(digest)
    return None if key is None else key.owner


@pytest.fixture
async def owners() -> AsyncIterator[FirestoreOwners]:
    async with on_google_cloud() as stores:
        assert isinstance(stores.owners, FirestoreOwners)
        for digest, owner in (("first", "ann"), ("second", "ann"), ("other", "bob")):
            await stores.owners.add_key(digest, owner, NOW)
        yield stores.owners


async def test_the_new_key_is_the_only_one(owners: FirestoreOwners) -> None:
    await owners.put(OWNER)
    await owners.rekey("ann", "new", LATER)
    assert [await find_owner(owners, digest) for digest in ("first", "second", "other", "new")] == [None, None, "bob", "ann"]


async def test_people_keep_their_keys(owners: FirestoreOwners) -> None:
    await owners.put(OWNER)
    keys = FirestoreApiKeys(owners._clients)
    await keys.create("limited", ApiKey(id="k", owner="ann", workspace="ws_1", created_at=NOW))
    await FirestoreInvitations(owners._clients).create("token", INVITATION, now=NOW)
    await FirestoreInvitations(owners._clients).take("token", person="eve", is_new=True, key="k2", key_digest="eves", now=NOW)
    await owners.rekey("ann", "new", LATER)
    assert [await find_owner(owners, digest) for digest in ("limited", "eves", "new")] == [None, "ann", "ann"]


async def test_an_earlier_key_takes_its_sessions_of_the_console_with_it(owners: FirestoreOwners) -> None:
    await owners.put(OWNER)
    sessions = FirestoreConsoleSessions(owners._clients)
    for digest, owner in (("first", "ann"), ("second", "ann"), ("other", "bob")):
        key = ApiKey(owner=owner, created_at=NOW)
        await sessions.create(build_session(f"of {digest}", key, digest, browser="", now=NOW))
    await owners.rekey("ann", "new", LATER)
    stored = [await sessions.find(f"of {digest}") for digest in ("first", "second", "other")]
    assert [session is None for session in stored] == [True, True, False]


async def test_nobody_is_locked_out_by_a_name_that_is_no_owners(owners: FirestoreOwners) -> None:
    with pytest.raises(KeyError):
        await owners.rekey("ann", "new", LATER)
    assert [await find_owner(owners, digest) for digest in ("first", "new")] == ["ann", None]


async def test_of_new_keys_that_are_made_at_once_one_is_left(owners: FirestoreOwners) -> None:
    await owners.put(OWNER)
    names = [f"new {number}" for number in range(6)]
    await asyncio.gather(*(owners.rekey("ann", digest, LATER) for digest in names))
    assert [await find_owner(owners, digest) for digest in ("first", "second", *names)].count("ann") == 1


async def test_of_those_who_add_an_owner_of_one_name_one_does_and_no_other_key_opens(owners: FirestoreOwners) -> None:
    for round_ in range(3):
        owner = replace(OWNER, id=f"new_{round_}")
        digests = [f"{round_} {number}" for number in range(6)]
        came = await asyncio.gather(*(owners.add(owner, digest) for digest in digests))
        opened = [await find_owner(owners, digest) for digest in digests]
        assert (came.count(True), opened.count(owner.id)) == (1, 1)
        assert opened.index(owner.id) == came.index(True)


async def test_an_owner_who_is_there_is_not_added_again(owners: FirestoreOwners) -> None:
    await owners.put(OWNER)
    assert await owners.add(replace(OWNER, plan="pro"), "new") is False
    assert (await owners.get("ann"), await find_owner(owners, "new")) == (OWNER, None)


async def test_adding_again_with_the_same_key_is_the_same_addition(owners: FirestoreOwners) -> None:
    assert [await owners.add(OWNER, "new") for _ in range(2)] == [True, True]
