"""Declared tools in memory."""

from __future__ import annotations

from collections.abc import Sequence

from ferryman.domain.declared import Cluster, Declared, admit, clustered
from ferryman.local.memory import Memory
from ferryman.ports import Stale


class MemoryClusters:
    """`ports.Clusters`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def list(self, task: str) -> Sequence[Cluster]:
        held = self._memory.clusters.get(task, {})
        return [held[name][0] for name in sorted(held)]

    async def put(self, task: str, name: str, tools: Sequence[Declared], *, since: int) -> Cluster:
        if task not in self._memory.tasks:
            raise Stale("the task was deleted")
        held = self._memory.clusters.setdefault(task, {})
        if (held[name][0].generation if name in held else 0) != since:
            raise Stale("the cluster was stored by somebody else meanwhile")
        cluster = clustered(name, since + 1, tools)
        admit([each for each in await self.list(task) if each.name != name], cluster)
        held[name] = (cluster, tuple(tools))
        return cluster

    async def delete(self, task: str, name: str) -> bool:
        return self._memory.clusters.get(task, {}).pop(name, None) is not None

    async def tools(self, task: str) -> Sequence[Declared]:
        held = self._memory.clusters.get(task, {})
        return [tool for name in sorted(held) for tool in held[name][1]]

    async def find(self, task: str, tool: str) -> Declared | None:
        return next((each for each in await self.tools(task) if each.name == tool), None)
