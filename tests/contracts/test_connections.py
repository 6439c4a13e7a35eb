"""Connections: each is taken once; and credentials that are stored in place of one, or not at all."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.credentials.connection import Connection
from ferryman.domain.credentials.credential import GrantStatus, Refreshing
from ferryman.domain.stale import StaleError

from .conftest import Stores
from .values import NOW, TASK, build_sealed

SECOND = timedelta(seconds=1)


def begun(digest: str = "d" * 64) -> Connection:
    """Return a connection of `TASK`."""
    return Connection(
        digest=digest,
        label=replace(build_sealed().label, version=0),
        redirect_uri="http://127.0.0.1:9/callback",
        token_url="https://login.example.com/token",
        client_id="c",
        creds_location="body",
        scopes=("a", "b"),
        expires_at=NOW + timedelta(minutes=10),
        ciphertext=b"\x00\xff",
    )


async def test_a_connection_comes_back_as_it_was_put_and_is_gone_then(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    assert await stores.connections.take("task_1", begun().digest) is None
    await stores.connections.put(begun(), now=NOW, most=2)
    assert await stores.connections.take("task_1", "e" * 64) is None
    assert await stores.connections.take("task_1", begun().digest) == begun()
    assert await stores.connections.take("task_1", begun().digest) is None


async def test_of_several_who_take_one_at_once_one_has_it(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.connections.put(begun(), now=NOW, most=2)
    outcomes = await asyncio.gather(*(stores.connections.take("task_1", begun().digest) for _ in range(3)))
    assert [outcome for outcome in outcomes if outcome is not None] == [begun()]


async def test_so_many_are_under_way_and_no_more_until_some_have_run_out(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    for digest in ("1", "2"):
        await stores.connections.put(begun(digest), now=NOW, most=2)
    with pytest.raises(StaleError):
        await stores.connections.put(begun("3"), now=NOW, most=2)
    await stores.connections.put(begun("3"), now=begun().expires_at, most=2)
    assert await stores.connections.take("task_1", "1") is None


async def test_a_connection_of_no_task_is_not_taken(stores: Stores) -> None:
    with pytest.raises(StaleError):
        await stores.connections.put(begun(), now=NOW, most=2)


async def test_a_deleted_task_takes_its_connections_with_it(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.connections.put(begun(), now=NOW, most=2)
    await stores.tasks.delete("task_1")
    await stores.tasks.create(TASK)
    assert await stores.connections.take("task_1", begun().digest) is None


GRANTED = replace(build_sealed(), grant=GrantStatus(scopes=("a",), token_expires_at=NOW))
CLAIMED = replace(GRANTED, grant=replace(GRANTED.grant, refreshing=Refreshing(holder="h", until=NOW + SECOND)))
NEXT = replace(
    GRANTED, label=replace(GRANTED.label, version=2), ciphertext=b"renewed", grant=GrantStatus(token_expires_at=NOW + SECOND)
)


async def test_what_is_put_in_place_of_a_credential_is_stored_whole(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(GRANTED)
    assert await stores.credentials.swap(GRANTED, CLAIMED) is True
    assert list(await stores.credentials.list("task_1")) == [CLAIMED]
    assert await stores.credentials.swap(CLAIMED, NEXT) is True
    assert list(await stores.credentials.list("task_1")) == [NEXT]
    assert await stores.credentials.next_version("task_1", "A") == 3


async def test_nothing_is_put_in_place_of_what_is_not_there_any_more(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    assert await stores.credentials.swap(GRANTED, CLAIMED) is False
    await stores.credentials.put(GRANTED)
    await stores.credentials.swap(GRANTED, CLAIMED)
    for after in (NEXT, CLAIMED):
        assert await stores.credentials.swap(GRANTED, after) is False
    assert list(await stores.credentials.list("task_1")) == [CLAIMED]
    await stores.credentials.delete("task_1", "A", now=NOW)
    assert await stores.credentials.swap(CLAIMED, NEXT) is False
    assert list(await stores.credentials.list("task_1")) == []


async def test_of_several_who_claim_at_once_one_has_it(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(GRANTED)
    until = NOW + SECOND
    claims = [
        replace(GRANTED, grant=replace(GRANTED.grant, refreshing=Refreshing(holder=holder, until=until))) for holder in "abc"
    ]
    outcomes = await asyncio.gather(*(stores.credentials.swap(GRANTED, claim) for claim in claims))
    assert sorted(outcomes) == [False, False, True]
    assert list(await stores.credentials.list("task_1")) == [claims[outcomes.index(True)]]


async def test_a_version_that_was_used_before_is_not_put_in_place(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(GRANTED)
    await stores.credentials.swap(GRANTED, NEXT)
    await stores.credentials.delete("task_1", "A", now=NOW)
    assert await stores.credentials.swap(GRANTED, NEXT) is False
    assert await stores.credentials.next_version("task_1", "A") == 4
