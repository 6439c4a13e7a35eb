"""Quotas of files: exact however many write at once, and however often a delivery comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from ferryman.domain.copies import replace
from ferryman.domain.files.quota import FileQuota, FileReservation, QuotaExceededError
from ferryman.domain.files.writes import StoredWrite
from ferryman.domain.workspaces.workspace import WorkspaceGoneError, WorkspaceState
from ferryman.ports.errors import UnavailableError
from tests.contracts.values import NOW, open_workspaces

from .conftest import Stores

WORKSPACE = "w"
WRITERS = 64
SIZE = 10
LIMIT = 40 * SIZE


@pytest.fixture(autouse=True)
async def workspace(stores: Stores) -> None:
    await open_workspaces(stores, WORKSPACE)


async def reserve(stores: Stores, write: str, size: int = SIZE, limit: int = LIMIT) -> FileQuota:
    return await stores.file_quotas.reserve(WORKSPACE, write, owner="ann", size_bytes=size, limit_bytes=limit, now=NOW)


async def settle(stores: Stores, write: str, old: int = 0, new: int = SIZE) -> FileQuota:
    return await stores.file_quotas.settle(WORKSPACE, [StoredWrite(name=write, old_bytes=old, new_bytes=new)])


async def test_a_workspace_begins_with_nothing(stores: Stores) -> None:
    assert await stores.file_quotas.get(WORKSPACE) == FileQuota(id=WORKSPACE)


async def test_a_write_is_reserved_settled_and_released(stores: Stores) -> None:
    for change, used, reservation in (
        (reserve(stores, "exec_1-7"), 0, FileReservation(size_bytes=SIZE, reserved_at=NOW)),
        (settle(stores, "exec_1-7"), SIZE, FileReservation(size_bytes=0, reserved_at=NOW, is_settled=True)),
    ):
        expected = FileQuota(id=WORKSPACE, used_bytes=used, reservations={"exec_1-7": reservation})
        assert await change == await stores.file_quotas.get(WORKSPACE) == expected
    released = FileQuota(id=WORKSPACE, used_bytes=SIZE)
    assert await stores.file_quotas.release(WORKSPACE, "exec_1-7") == await stores.file_quotas.get(WORKSPACE) == released


async def test_a_delivery_that_comes_twice_counts_once(stores: Stores) -> None:
    for _ in range(2):
        assert (await reserve(stores, "exec_1-7", limit=SIZE)).reserved_bytes == SIZE
    for _ in range(2):
        assert (await settle(stores, "exec_1-7")).used_bytes == SIZE
    # the writer died before it recorded its end: all of it comes again
    assert (await reserve(stores, "exec_1-7", limit=SIZE)).reserved_bytes == 0
    assert (await settle(stores, "exec_1-7")).used_bytes == SIZE


async def test_who_writes_over_a_write_that_nobody_settled_settles_both_and_its_own_writer_finds_it_settled(
    stores: Stores,
) -> None:
    await reserve(stores, "exec_1-7")
    await reserve(stores, "exec_2-0", 2 * SIZE)
    before = StoredWrite(name="exec_1-7", old_bytes=0, new_bytes=SIZE)
    after = StoredWrite(name="exec_2-0", old_bytes=SIZE, new_bytes=2 * SIZE)
    assert (await stores.file_quotas.settle(WORKSPACE, [after, before])).used_bytes == 2 * SIZE
    assert (await reserve(stores, "exec_1-7")).reservations["exec_1-7"].is_settled
    assert (await stores.file_quotas.settle(WORKSPACE, [before])).used_bytes == 2 * SIZE


async def test_what_was_never_reserved_is_not_settled(stores: Stores) -> None:
    with pytest.raises(ValueError, match="reserved before it is settled"):
        await settle(stores, "exec_1-7")


async def test_a_write_that_stored_nothing_is_released(stores: Stores) -> None:
    await reserve(stores, "exec_1-7")
    for _ in range(2):
        assert await stores.file_quotas.release(WORKSPACE, "exec_1-7") == FileQuota(id=WORKSPACE)


async def test_what_would_pass_the_limit_is_refused_and_changes_nothing(stores: Stores) -> None:
    await reserve(stores, "exec_1-1", LIMIT - 1)
    with pytest.raises(QuotaExceededError) as error:
        await reserve(stores, "exec_1-2", 2)
    assert (error.value.used_bytes, error.value.reserved_bytes, error.value.will_fit) == (0, LIMIT - 1, True)
    assert list((await stores.file_quotas.get(WORKSPACE)).reservations) == ["exec_1-1"]
    await reserve(stores, "exec_1-3", 1)


async def test_nothing_is_reserved_in_a_workspace_that_is_going(stores: Stores) -> None:
    going = await stores.workspaces.get(WORKSPACE, owner="ann")
    assert going is not None
    going = replace(going, state=WorkspaceState.DELETING, updated_at=NOW + timedelta(seconds=1))
    await stores.workspaces.update(going, ["state"], since=NOW)
    with pytest.raises(WorkspaceGoneError):
        await reserve(stores, "exec_1-7")


@pytest.mark.parametrize(("workspace_id", "owner"), [("unknown", "ann"), (WORKSPACE, "bob")])
async def test_nothing_is_reserved_in_what_is_no_workspace_of_the_owner(stores: Stores, workspace_id: str, owner: str) -> None:
    with pytest.raises(WorkspaceGoneError):
        await stores.file_quotas.reserve(workspace_id, "exec_1-7", owner=owner, size_bytes=1, limit_bytes=LIMIT, now=NOW)


async def repeat(attempt: Callable[[], Awaitable[FileQuota]]) -> FileQuota:
    """Return what comes of it, attempted again where the store is not available; raise `QuotaExceededError`."""
    while True:
        try:
            return await attempt()
        except UnavailableError:
            continue


async def write(stores: Stores, number: int) -> int:
    """Write one file as a function does, every step delivered twice. Return the bytes that are stored of it."""
    name, size = f"exec_{number}-0", SIZE - number % 3
    for _ in range(2):
        try:
            await repeat(lambda: reserve(stores, name))
        except QuotaExceededError:
            return 0
        if number % 4:
            await repeat(lambda: settle(stores, name, new=size))
    await repeat(lambda: stores.file_quotas.release(WORKSPACE, name))
    return size if number % 4 else 0


async def test_the_sum_is_exact_with_sixty_four_writers(stores: Stores) -> None:
    sizes = await asyncio.gather(*(write(stores, number) for number in range(WRITERS)))
    quota = await stores.file_quotas.get(WORKSPACE)
    assert quota == FileQuota(id=WORKSPACE, used_bytes=sum(sizes))
    assert quota.used_bytes <= LIMIT


async def test_of_sixty_four_reservations_as_many_are_let_in_as_there_is_room_for(stores: Stores) -> None:
    async def attempt(number: int) -> bool:
        try:
            await repeat(lambda: reserve(stores, f"exec_{number}-0"))
        except QuotaExceededError:
            return False
        return True

    outcomes = await asyncio.gather(*(attempt(number) for number in range(WRITERS)))
    assert sum(outcomes) == LIMIT // SIZE
    assert (await stores.file_quotas.get(WORKSPACE)).reserved_bytes == LIMIT
