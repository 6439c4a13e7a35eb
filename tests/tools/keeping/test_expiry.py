"""Kept results of executions that are gone: deleted by a timer, and counted back."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from ferryman.domain.files.kept import find_expiry
from ferryman.domain.files.object import PAGE_MAX, ObjectPage
from ferryman.domain.files.quota import FileQuota
from ferryman.domain.workspaces.workspace import BEGINNING, Workspace, WorkspaceState
from ferryman.inmemory.clock import CountingIds, ManualClock
from ferryman.inmemory.file_quotas import MemoryFileQuotas
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.objects import MemoryObjects
from ferryman.inmemory.queue import MemoryKeptTimers, QueuedExpiry
from ferryman.inmemory.workspaces import MemoryWorkspaces
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.tools.keeping import expiry
from ferryman.tools.keeping.expiry import ExpiryDependencies, deliver
from ferryman.tools.keyless.keeping import ResultFiles
from tests.builders import START
from tests.tools.keyless.test_keeping import Keeper, keeper, number

__all__ = ["keeper"]

W = "w"
PERIOD = timedelta(days=30)
TODAY = START.date()
OLD = f"executions/{START - timedelta(days=32):%Y-%m-%d}/x/0.txt"
YOUNG = f"executions/{START - timedelta(days=31):%Y-%m-%d}/x/0.txt"
OTHERS = ("executions/0.txt", "executions/notes.txt", "notes.txt")


class Shelf:
    """A workspace with 100 bytes of an expired result, of one that expires tomorrow, and of each of some files of a task."""

    def __init__(self) -> None:
        self.memory, self.timers, clock = Memory(), MemoryKeptTimers(), ManualClock()
        self.objects = MemoryObjects(clock)
        self.files = WorkspaceFiles(self.objects)
        self.memory.workspaces[W] = Workspace(id=W, owner="o", name="W", created_at=BEGINNING, updated_at=BEGINNING)
        self.deps = ExpiryDependencies(
            files=self.files,
            quotas=MemoryFileQuotas(self.memory),
            workspaces=MemoryWorkspaces(self.memory),
            timers=self.timers,
            clock=clock,
            ids=CountingIds(),
            tracer=RecordingLog(),
            period=PERIOD,
        )

    async def fill(self, *keys: str) -> None:
        for key in keys:
            await self.files.write(W, key, b"x" * 100, content_type="text/plain", write="before")
        self.memory.file_quotas[W] = FileQuota(id=W, used_bytes=100 * len(self.objects._objects))

    async def deliver(self, *, slice: int = 0, cursor: str = "") -> bool:
        return await deliver(self.deps, W, owner="o", day=TODAY, slice=slice, cursor=cursor)

    async def list(self) -> list[str]:
        return [entry.key for entry in (await self.files.list(W, "")).entries]


@pytest.fixture
async def shelf() -> Shelf:
    built = Shelf()
    await built.fill(OLD, YOUNG, *OTHERS)
    return built


async def test_what_has_expired_goes_and_nothing_else(shelf: Shelf) -> None:
    assert await shelf.deliver()
    assert await shelf.list() == sorted((YOUNG, *OTHERS))


async def test_its_bytes_are_counted_back(shelf: Shelf) -> None:
    for _ in range(2):
        await shelf.deliver()
    assert shelf.memory.file_quotas[W] == FileQuota(id=W, used_bytes=400)


async def test_nothing_is_left_of_it(shelf: Shelf) -> None:
    await shelf.deliver()
    assert await shelf.objects.head(f"workspaces/{W}/{OLD}") is None


async def test_what_an_earlier_deletion_has_left_goes_too(shelf: Shelf) -> None:
    await shelf.files.delete(W, OLD, write="died")
    await shelf.deliver()
    assert await shelf.objects.head(f"workspaces/{W}/{OLD}") is None


async def test_the_next_timer_comes_when_the_first_that_is_left_expires(shelf: Shelf) -> None:
    await shelf.deliver()
    assert shelf.timers.waiting == [QueuedExpiry(W, "o", TODAY + timedelta(days=1), 0, "")]


async def test_a_timer_waits_for_28_days_at_most(shelf: Shelf) -> None:
    shelf.deps = replace(shelf.deps, period=timedelta(days=90))
    await shelf.deliver()
    assert [timer.day for timer in shelf.timers.waiting] == [TODAY + timedelta(days=28)]


async def test_no_timer_is_set_where_no_result_is_left() -> None:
    shelf = Shelf()
    await shelf.fill(OLD, *OTHERS)
    await shelf.deliver()
    assert shelf.timers.waiting == []


async def test_more_than_one_slice_takes_is_left_to_the_next(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "FILES_PER_SLICE", 1)
    await shelf.deliver()
    (timer,) = shelf.timers.waiting
    assert (timer.day, timer.slice, await shelf.list()) == (TODAY, 1, sorted((OLD, YOUNG, *OTHERS)))
    await shelf.deliver(slice=timer.slice, cursor=timer.cursor)
    assert (len(shelf.timers.waiting), await shelf.list()) == (2, sorted((YOUNG, *OTHERS)))


async def test_a_workspace_that_keeps_executions_for_less_keeps_their_results_for_less(shelf: Shelf) -> None:
    shelf.memory.workspaces[W] = replace(shelf.memory.workspaces[W], retention_days=29)
    await shelf.deliver()
    assert await shelf.list() == sorted(OTHERS)


async def test_where_executions_stay_for_ever_their_results_do(shelf: Shelf) -> None:
    shelf.deps = replace(shelf.deps, period=None)
    assert await shelf.deliver()
    assert OLD in await shelf.list()


@pytest.mark.parametrize("owner", ["o", "somebody else"])
async def test_of_a_workspace_that_is_gone_or_another_s_nothing_is_asked(shelf: Shelf, owner: str) -> None:
    state = WorkspaceState.DELETING if owner == "o" else WorkspaceState.ACTIVE
    shelf.memory.workspaces[W] = replace(shelf.memory.workspaces[W], state=state)
    assert await deliver(shelf.deps, W, owner=owner, day=TODAY, slice=0, cursor="")
    assert OLD in await shelf.list()


class LateFiles(WorkspaceFiles):
    """Files of which one is replaced after it was listed."""

    async def list(self, workspace: str, prefix: str, *, cursor: str | None = None, most: int = PAGE_MAX) -> ObjectPage:
        page = await super().list(workspace, prefix, cursor=cursor, most=most)
        await self.write(workspace, OLD, b"new", content_type="text/plain", write="late")
        return page


async def test_what_was_replaced_after_it_was_listed_stays_until_the_slice_comes_again(shelf: Shelf) -> None:
    shelf.deps = replace(shelf.deps, files=LateFiles(shelf.objects))
    assert not await shelf.deliver()
    assert OLD in await shelf.list()


def with_period(results: ResultFiles, period: timedelta) -> ResultFiles:
    return replace(results, files=replace(results.files, period=period))


async def test_a_slice_without_a_queue_comes_again(shelf: Shelf) -> None:
    shelf.timers.is_away = True
    assert not await shelf.deliver()
    shelf.timers.is_away = False
    assert await shelf.deliver()
    assert len(shelf.timers.waiting) == 1


async def test_a_result_is_kept_with_a_timer(keeper: Keeper) -> None:
    keeper.says = number(1_000)
    assert keeper.calls.results is not None
    keeper.calls = replace(keeper.calls, results=with_period(keeper.calls.results, timedelta(days=3)))
    await keeper.execute()
    assert [timer.day for timer in keeper.timers.waiting] == [keeper.clock.now().date() + timedelta(days=5)]


async def test_without_a_timer_nothing_is_kept(keeper: Keeper) -> None:
    keeper.says, keeper.timers.is_away = number(1_000), True
    assert keeper.calls.results is not None
    keeper.calls = replace(keeper.calls, results=with_period(keeper.calls.results, PERIOD))
    result = await keeper.get_result()
    assert ("files cannot be reached now" in result.content, keeper.objects._objects, keeper.quota.reserved_bytes) == (
        True,
        {},
        0,
    )


@pytest.mark.parametrize(
    ("key", "day"),
    [
        ("executions/2026-01-01/x/0.txt", date(2026, 2, 2)),
        ("executions/2026-01-01/x/0-2.txt", date(2026, 2, 2)),
        ("executions/2020-13-01/x/0.txt", None),
        ("executions/9999-12-31/x/0.txt", None),
        ("executions/2020-01-01/x/a.txt", None),
        ("2020-01-01/x/0.txt", None),
    ],
)
def test_a_key_that_names_a_result_has_a_day_of_expiry(key: str, day: date | None) -> None:
    assert find_expiry(key, PERIOD) == day
