"""Storing custom tools: what is added is beside what was there, and a concurrent change is tried again, a few times."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.stale import StaleError
from ferryman.domain.tools.declared import Cluster, DeclaredTool
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.memory import Memory
from ferryman.tools.declared.storing import ATTEMPTS_MAX, add_tools, remove_tool

from .harness import TASK, tool


class Busy(MemoryClusters):
    """A store in which another writer adds a tool just before, so many times."""

    def __init__(self, times: int = 0) -> None:
        super().__init__(Memory(tasks={"t": TASK}))
        self.times = times

    async def put(
        self, task: str, name: str, tools: Sequence[DeclaredTool], *, since: int, done: Completion | None = None
    ) -> Cluster:
        if self.times:
            self.times -= 1
            stored = [tool for tool in await self.tools(task) if tool.cluster == name]
            await super().put(task, name, [*stored, tool(f"theirs_{self.times}")], since=since)
        return await super().put(task, name, tools, since=since, done=done)

    async def names(self) -> set[str]:
        return {tool.name for tool in await self.tools("t")}


async def test_a_tool_is_added_to_those_that_were_there() -> None:
    clusters = Busy()
    await add_tools(clusters, "t", [tool("one")])
    await add_tools(clusters, "t", [tool("two")])
    assert await clusters.names() == {"one", "two"}


async def test_a_tool_takes_the_place_of_one_of_its_name() -> None:
    clusters = Busy()
    await add_tools(clusters, "t", [tool("one"), tool("two")])
    await add_tools(clusters, "t", [tool("one", "/new")])
    assert await clusters.find("t", "one") == tool("one", "/new")


async def test_a_name_that_a_cluster_has_is_not_added() -> None:
    clusters = Busy()
    await clusters.put("t", "c", [tool("one", cluster="c")], since=0)
    with pytest.raises(InvalidInputError, match="one is taken by cluster 'c'"):
        await add_tools(clusters, "t", [tool("one")])


async def test_a_tool_is_removed_from_whatever_cluster() -> None:
    clusters = Busy()
    await clusters.put("t", "c", [tool("one", cluster="c"), tool("two", cluster="c")], since=0)
    assert await remove_tool(clusters, "t", "one")
    assert await clusters.names() == {"two"}


async def test_what_is_not_there_is_not_removed() -> None:
    assert not await remove_tool(Busy(), "t", "one")


async def test_what_others_add_meanwhile_is_kept() -> None:
    clusters = Busy(ATTEMPTS_MAX - 1)
    await add_tools(clusters, "t", [tool("mine")])
    assert await clusters.names() == {"mine", *(f"theirs_{number}" for number in range(ATTEMPTS_MAX - 1))}


async def test_who_is_always_beaten_to_it_gives_up() -> None:
    clusters = Busy(ATTEMPTS_MAX)
    with pytest.raises(StaleError):
        await add_tools(clusters, "t", [tool("mine")])
    assert "mine" not in await clusters.names()
