"""Storing custom tools: what is added stands beside what was there, and who is beaten to it tries again, a few times."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ferryman.domain.declared import Cluster, Declared
from ferryman.domain.problem import Invalid
from ferryman.local.clusters import MemoryClusters
from ferryman.local.memory import Memory
from ferryman.ports import Stale
from ferryman.tools.custom.storing import TRIES, added, removed

from .desk import TASK, tool


class Busy(MemoryClusters):
    """A store in which somebody else adds a tool just before, so many times."""

    def __init__(self, times: int = 0) -> None:
        super().__init__(Memory(tasks={"t": TASK}))
        self.times = times

    async def put(self, task: str, name: str, tools: Sequence[Declared], *, since: int) -> Cluster:
        if self.times:
            self.times -= 1
            held = [each for each in await self.tools(task) if each.cluster == name]
            await super().put(task, name, [*held, tool(f"theirs_{self.times}")], since=since)
        return await super().put(task, name, tools, since=since)

    async def names(self) -> set[str]:
        return {each.name for each in await self.tools("t")}


async def test_a_tool_is_added_to_those_that_were_there() -> None:
    clusters = Busy()
    await added(clusters, "t", [tool("one")])
    await added(clusters, "t", [tool("two")])
    assert await clusters.names() == {"one", "two"}


async def test_a_tool_takes_the_place_of_one_of_its_name() -> None:
    clusters = Busy()
    await added(clusters, "t", [tool("one"), tool("two")])
    await added(clusters, "t", [tool("one", "/new")])
    assert await clusters.find("t", "one") == tool("one", "/new")


async def test_a_name_that_a_cluster_has_is_not_added() -> None:
    clusters = Busy()
    await clusters.put("t", "c", [tool("one", cluster="c")], since=0)
    with pytest.raises(Invalid, match="one is taken by cluster 'c'"):
        await added(clusters, "t", [tool("one")])


async def test_a_tool_is_removed_from_whatever_cluster() -> None:
    clusters = Busy()
    await clusters.put("t", "c", [tool("one", cluster="c"), tool("two", cluster="c")], since=0)
    assert await removed(clusters, "t", "one")
    assert await clusters.names() == {"two"}


async def test_what_is_not_there_is_not_removed() -> None:
    assert not await removed(Busy(), "t", "one")


async def test_what_others_add_meanwhile_is_kept() -> None:
    clusters = Busy(TRIES - 1)
    await added(clusters, "t", [tool("mine")])
    assert await clusters.names() == {"mine", *(f"theirs_{number}" for number in range(TRIES - 1))}


async def test_who_is_always_beaten_to_it_gives_up() -> None:
    clusters = Busy(TRIES)
    with pytest.raises(Stale):
        await added(clusters, "t", [tool("mine")])
    assert "mine" not in await clusters.names()
