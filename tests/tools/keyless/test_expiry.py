"""Kept results of executions that are gone: deleted when another is kept, and counted back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ferryman.domain.files.kept import is_expired
from ferryman.domain.files.object import ObjectEntry
from ferryman.domain.files.quota import FileQuota
from tests.builders import START
from tests.tools.keyless.test_keeping import Keeper, W, keeper, number

__all__ = ["keeper"]

PERIOD = timedelta(days=30)
OLD = f"executions/{START - timedelta(days=32):%Y-%m-%d}/x/0.txt"
YOUNG = f"executions/{START - timedelta(days=31):%Y-%m-%d}/x/0.txt"
OTHERS = "executions/notes.txt"


@pytest.fixture
async def workspace(keeper: Keeper) -> Keeper:
    """Return a workspace with 100 bytes of an expired result, of one that is not, and of a file of somebody's."""
    for key in (OLD, YOUNG, OTHERS):
        await keeper.files.write(W, key, b"x" * 100, content_type="text/plain", write=f"before.{len(keeper.memory.tickets)}")
    keeper.memory.file_quotas[W] = FileQuota(id=W, used_bytes=300)
    keeper.says = number(1_000)
    return keeper


async def keep(keeper: Keeper, period: timedelta | None = PERIOD) -> list[str]:
    """Keep a result; return the keys that are there then."""
    assert keeper.calls.results is not None
    keeper.calls = replace(keeper.calls, results=replace(keeper.calls.results, period=period))
    await keeper.execute()
    return [entry.key for entry in await list_files(keeper)]


async def list_files(keeper: Keeper) -> tuple[ObjectEntry, ...]:
    return (await keeper.files.list(W, "")).entries


async def test_an_expired_result_goes_when_another_is_kept(workspace: Keeper) -> None:
    assert await keep(workspace) == [YOUNG, "executions/2026-11-21/e/0.txt", OTHERS]


async def test_its_bytes_are_counted_back(workspace: Keeper) -> None:
    await keep(workspace)
    assert workspace.quota == FileQuota(id=W, used_bytes=200 + 7_000)


async def test_nothing_is_left_of_it(workspace: Keeper) -> None:
    await keep(workspace)
    assert await workspace.objects.head(f"workspaces/{W}/{OLD}") is None


async def test_a_workspace_that_keeps_executions_for_less_keeps_their_results_for_less(workspace: Keeper) -> None:
    workspace.memory.executions["e"] = replace(workspace.memory.executions["e"], retention_days=29)
    assert YOUNG not in await keep(workspace)


async def test_where_executions_stay_for_ever_their_results_do(workspace: Keeper) -> None:
    assert OLD in await keep(workspace, None)


@pytest.mark.parametrize("key", ["executions/2020-13-01/x/0.txt", "executions/2020-01-01/x/a.txt", "2020-01-01/x/0.txt"])
def test_a_key_that_names_no_result_does_not_expire(key: str) -> None:
    assert not is_expired(key, PERIOD, datetime(2026, 1, 1, tzinfo=UTC))
