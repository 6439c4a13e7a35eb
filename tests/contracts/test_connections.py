"""Connections: each is taken once; and credentials that are stored in place of one, or not at all."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.credentials.connection import Connection
from ferryman.domain.credentials.credential import GrantStatus, Refreshing
from ferryman.domain.stale import StaleError

from .conftest import Doors
from .values import NOW, TASK, sealed

SECOND = timedelta(seconds=1)


def begun(digest: str = "d" * 64) -> Connection:
    """A connection of `TASK`."""
    return Connection(
        digest=digest,
        label=replace(sealed().label, version=0),
        redirect_uri="http://127.0.0.1:9/callback",
        token_url="https://login.example.com/token",
        client_id="c",
        creds_location="body",
        scopes=("a", "b"),
        expires_at=NOW + timedelta(minutes=10),
        ciphertext=b"\x00\xff",
    )


async def test_a_connection_comes_back_as_it_was_put_and_is_gone_then(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    assert await doors.connections.take("task_1", begun().digest) is None
    await doors.connections.put(begun(), now=NOW, most=2)
    assert await doors.connections.take("task_1", "e" * 64) is None
    assert await doors.connections.take("task_1", begun().digest) == begun()
    assert await doors.connections.take("task_1", begun().digest) is None


async def test_of_several_who_take_one_at_once_one_has_it(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.connections.put(begun(), now=NOW, most=2)
    came = await asyncio.gather(*(doors.connections.take("task_1", begun().digest) for _ in range(3)))
    assert [each for each in came if each is not None] == [begun()]


async def test_so_many_are_under_way_and_no_more_until_some_have_run_out(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    for digest in ("1", "2"):
        await doors.connections.put(begun(digest), now=NOW, most=2)
    with pytest.raises(StaleError):
        await doors.connections.put(begun("3"), now=NOW, most=2)
    await doors.connections.put(begun("3"), now=begun().expires_at, most=2)
    assert await doors.connections.take("task_1", "1") is None


async def test_a_connection_of_no_task_is_not_taken(doors: Doors) -> None:
    with pytest.raises(StaleError):
        await doors.connections.put(begun(), now=NOW, most=2)


async def test_a_deleted_task_takes_its_connections_with_it(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.connections.put(begun(), now=NOW, most=2)
    await doors.tasks.delete("task_1")
    await doors.tasks.create(TASK)
    assert await doors.connections.take("task_1", begun().digest) is None


GRANTED = replace(sealed(), grant=GrantStatus(scopes=("a",), token_expires_at=NOW))
CLAIMED = replace(GRANTED, grant=replace(GRANTED.grant, refreshing=Refreshing(holder="h", until=NOW + SECOND)))
NEXT = replace(
    GRANTED, label=replace(GRANTED.label, version=2), ciphertext=b"renewed", grant=GrantStatus(token_expires_at=NOW + SECOND)
)


async def test_what_is_put_in_place_of_a_credential_is_stored_whole(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(GRANTED)
    assert await doors.credentials.swap(GRANTED, CLAIMED) is True
    assert list(await doors.credentials.list("task_1")) == [CLAIMED]
    assert await doors.credentials.swap(CLAIMED, NEXT) is True
    assert list(await doors.credentials.list("task_1")) == [NEXT]
    assert await doors.credentials.next_version("task_1", "A") == 3


async def test_nothing_is_put_in_place_of_what_is_not_there_any_more(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    assert await doors.credentials.swap(GRANTED, CLAIMED) is False
    await doors.credentials.put(GRANTED)
    await doors.credentials.swap(GRANTED, CLAIMED)
    for after in (NEXT, CLAIMED):
        assert await doors.credentials.swap(GRANTED, after) is False
    assert list(await doors.credentials.list("task_1")) == [CLAIMED]
    await doors.credentials.delete("task_1", "A", now=NOW)
    assert await doors.credentials.swap(CLAIMED, NEXT) is False
    assert list(await doors.credentials.list("task_1")) == []


async def test_of_several_who_claim_at_once_one_has_it(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(GRANTED)
    until = NOW + SECOND
    claims = [replace(GRANTED, grant=replace(GRANTED.grant, refreshing=Refreshing(holder=each, until=until))) for each in "abc"]
    came = await asyncio.gather(*(doors.credentials.swap(GRANTED, each) for each in claims))
    assert sorted(came) == [False, False, True]
    assert list(await doors.credentials.list("task_1")) == [claims[came.index(True)]]


async def test_a_version_that_was_used_before_is_not_put_in_place(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(GRANTED)
    await doors.credentials.swap(GRANTED, NEXT)
    await doors.credentials.delete("task_1", "A", now=NOW)
    assert await doors.credentials.swap(GRANTED, NEXT) is False
    assert await doors.credentials.next_version("task_1", "A") == 3
