"""Sessions of the console and sign-in links: stored under a valid key alone, used once, and gone with their key."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.console_sessions.link import LINK_LIFETIME, SignInLink, build_link
from ferryman.domain.console_sessions.session import LIFETIME, ConsoleSession, build_session
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.workspace import WorkspaceGoneError

from .conftest import Stores
from .people import HERE, OTHER, join
from .values import NOW, OWNER

OWNERS_KEY = ApiKey(owner="ann", created_at=NOW)


async def add_own_key(stores: Stores, digest: str = "own") -> None:
    await stores.owners.put(OWNER)
    await stores.owners.add_key(digest, "ann", NOW)


async def find_key(stores: Stores, person: str) -> tuple[ApiKey, str]:
    digest = f"digest token of {person} {HERE}"
    key = await stores.keys.find(digest)
    assert key is not None
    return key, digest


def sign_in(name: str, key: ApiKey = OWNERS_KEY, digest: str = "own", *, after: timedelta = timedelta(0)) -> ConsoleSession:
    return build_session(name, key, digest, browser="Browser/1.0", now=NOW + after)


def link_to(code: str, key: ApiKey = OWNERS_KEY, digest: str = "own", *, after: timedelta = timedelta(0)) -> SignInLink:
    return build_link(code, key, digest, now=NOW + after)


async def test_a_session_is_read_as_it_was_stored(stores: Stores) -> None:
    await add_own_key(stores)
    await stores.console_sessions.create(sign_in("s"))
    assert await stores.console_sessions.find("s") == sign_in("s")
    assert await stores.console_sessions.find("other") is None


async def test_a_session_that_is_stored_again_is_one(stores: Stores) -> None:
    await add_own_key(stores)
    for _ in range(2):
        await stores.console_sessions.create(sign_in("s"))
    assert len(await stores.console_sessions.list("ann", "", now=NOW)) == 1


async def test_no_session_and_no_link_is_stored_of_a_key_that_is_not_there(stores: Stores) -> None:
    with pytest.raises(StaleError):
        await stores.console_sessions.create(sign_in("s"))
    with pytest.raises(StaleError):
        await stores.console_sessions.put_link(link_to("code"))
    assert await stores.console_sessions.find("s") is None
    assert await stores.console_sessions.take_link("code", now=NOW) is None


async def test_where_a_key_has_the_most_sessions_the_oldest_goes_and_those_of_another_key_stay(stores: Stores) -> None:
    for digest in ("own", "second"):
        await add_own_key(stores, digest)
    await stores.console_sessions.create(sign_in("other", digest="second"))
    for number in range(4):
        await stores.console_sessions.create(sign_in(f"s{number}", after=timedelta(seconds=1 + number)), most=2)
    known = await stores.console_sessions.list("ann", "", now=NOW)
    assert [session.id for session in known] == ["other", "s2", "s3"]


async def test_sessions_are_listed_by_the_workspace_of_their_key_and_by_person(stores: Stores) -> None:
    await add_own_key(stores)
    for person in ("eve", "bob"):
        await join(stores, person)
        await stores.console_sessions.create(sign_in(f"of {person}", *await find_key(stores, person)))
    await stores.console_sessions.create(sign_in("of ann"))
    sessions = stores.console_sessions
    assert [known.id for known in await sessions.list("ann", HERE, now=NOW)] == ["of bob", "of eve"]
    assert [known.id for known in await sessions.list("ann", HERE, person="eve", now=NOW)] == ["of eve"]
    assert [known.id for known in await sessions.list("ann", "", now=NOW)] == ["of ann"]
    assert await sessions.list("bob", HERE, now=NOW) == []
    assert await sessions.list("bob", "", now=NOW) == []


async def test_a_session_that_is_over_is_not_listed(stores: Stores) -> None:
    await add_own_key(stores)
    await stores.console_sessions.create(sign_in("s"))
    assert len(await stores.console_sessions.list("ann", "", now=NOW + LIFETIME - timedelta(seconds=1))) == 1
    assert await stores.console_sessions.list("ann", "", now=NOW + LIFETIME) == []


@pytest.mark.parametrize(
    ("owner", "workspace", "person"), [("bob", HERE, None), ("ann", OTHER.id, None), ("ann", "", None), ("ann", HERE, "bob")]
)
async def test_a_session_of_somebody_else_is_not_revoked(
    stores: Stores, owner: str, workspace: str, person: str | None
) -> None:
    await join(stores, "eve")
    await stores.console_sessions.create(sign_in("s", *await find_key(stores, "eve")))
    assert not await stores.console_sessions.revoke("s", owner=owner, workspace=workspace, person=person)
    assert await stores.console_sessions.find("s") is not None


async def test_a_session_is_revoked_once(stores: Stores) -> None:
    await join(stores, "eve")
    await stores.console_sessions.create(sign_in("s", *await find_key(stores, "eve")))
    assert await stores.console_sessions.revoke("s", owner="ann", workspace=HERE, person="eve")
    assert await stores.console_sessions.find("s") is None
    assert not await stores.console_sessions.revoke("s", owner="ann", workspace=HERE, person="eve")


async def test_a_session_of_the_owners_own_key_acts_in_any_workspace_of_the_owner(stores: Stores) -> None:
    await add_own_key(stores)
    await stores.workspaces.create(OTHER)
    await stores.console_sessions.create(sign_in("s"))
    for chosen in (OTHER.id, HERE, ""):
        assert await stores.console_sessions.choose_workspace("s", chosen, owner="ann")
        assert await stores.console_sessions.find("s") == replace(sign_in("s"), workspace=chosen)


async def test_a_session_acts_in_no_workspace_that_is_not_the_owners(stores: Stores) -> None:
    await add_own_key(stores)
    await stores.workspaces.create(replace(OTHER, owner="bob"))
    await stores.console_sessions.create(sign_in("s"))
    for workspace in (OTHER.id, "ws_none"):
        with pytest.raises(WorkspaceGoneError):
            await stores.console_sessions.choose_workspace("s", workspace, owner="ann")
    assert await stores.console_sessions.find("s") == sign_in("s")


async def test_a_session_of_a_persons_key_stays_in_the_workspace_of_the_key(stores: Stores) -> None:
    await stores.workspaces.create(OTHER)
    await join(stores, "eve")
    session = sign_in("s", *await find_key(stores, "eve"))
    await stores.console_sessions.create(session)
    assert not await stores.console_sessions.choose_workspace("s", OTHER.id, owner="ann")
    assert await stores.console_sessions.find("s") == session


async def test_a_revoked_key_takes_its_sessions_and_links_with_it_and_no_others(stores: Stores) -> None:
    await join(stores, "eve")
    await join(stores, "bob")
    for person in ("eve", "bob"):
        key, digest = await find_key(stores, person)
        await stores.console_sessions.create(sign_in(f"of {person}", key, digest))
        await stores.console_sessions.put_link(link_to(f"code of {person}", key, digest))
    key, _ = await find_key(stores, "eve")
    assert await stores.keys.revoke(key.id, owner="ann", workspace=HERE)
    assert await stores.console_sessions.find("of eve") is None
    assert await stores.console_sessions.take_link("code of eve", now=NOW) is None
    assert await stores.console_sessions.find("of bob") is not None
    assert await stores.console_sessions.take_link("code of bob", now=NOW) is not None


async def test_who_leaves_a_workspace_leaves_no_session_and_no_link(stores: Stores) -> None:
    await join(stores, "eve")
    key, digest = await find_key(stores, "eve")
    await stores.console_sessions.create(sign_in("s", key, digest))
    await stores.console_sessions.put_link(link_to("code", key, digest))
    assert await stores.members.remove("eve", owner="ann", workspace=HERE, forced=True)
    assert await stores.console_sessions.find("s") is None
    assert await stores.console_sessions.take_link("code", now=NOW) is None


async def test_a_link_is_taken_once(stores: Stores) -> None:
    await add_own_key(stores)
    await stores.console_sessions.put_link(link_to("code"))
    assert await stores.console_sessions.take_link("code", now=NOW) == link_to("code")
    assert await stores.console_sessions.take_link("code", now=NOW) is None


async def test_of_those_who_take_a_link_at_once_one_gets_it(stores: Stores) -> None:
    await add_own_key(stores)
    await stores.console_sessions.put_link(link_to("code"))
    taking = (stores.console_sessions.take_link("code", now=NOW) for _ in range(4))
    came = await asyncio.gather(*taking)
    assert [link for link in came if link is not None] == [link_to("code")]


async def test_a_link_that_has_expired_is_not_taken(stores: Stores) -> None:
    await add_own_key(stores)
    await stores.console_sessions.put_link(link_to("code"))
    assert await stores.console_sessions.take_link("code", now=NOW + LINK_LIFETIME) is None


async def test_where_a_key_has_the_most_links_the_oldest_goes(stores: Stores) -> None:
    await add_own_key(stores)
    for number in range(3):
        await stores.console_sessions.put_link(link_to(f"code {number}", after=timedelta(seconds=number)), most=2)
    came = [await stores.console_sessions.take_link(f"code {number}", now=NOW) for number in range(3)]
    assert [link is not None for link in came] == [False, True, True]
