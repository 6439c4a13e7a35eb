"""DeclaredTool tools in memory."""

from __future__ import annotations

from collections.abc import Sequence

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.stale import StaleError
from ferryman.domain.tools.declared import Cluster, DeclaredTool, ToolPlace, build_cluster, check_cluster
from ferryman.domain.workspaces.workspace import WorkspaceGoneError
from ferryman.inmemory import keyed
from ferryman.inmemory.agents import MemoryAgents
from ferryman.inmemory.memory import MemoryStore
from ferryman.inmemory.workspaces import check_workspace
from ferryman.ports.clusters import SelectNames


class MemoryClusters(MemoryStore):
    """`ports.Clusters`."""

    async def list(self, task: str) -> Sequence[Cluster]:
        clusters = self._memory.clusters.get(task, {})
        return [clusters[name][0] for name in sorted(clusters)]

    async def put(
        self, task: str, name: str, tools: Sequence[DeclaredTool], *, since: int, done: Completion | None = None
    ) -> Cluster:
        keyed.check_completion(self._memory, done)
        if not await self._is_kept(task):
            raise StaleError("the task was deleted")
        clusters = self._memory.clusters.setdefault(task, {})
        if (clusters[name][0].generation if name in clusters else 0) != since:
            raise StaleError("the cluster was stored by somebody else meanwhile")
        cluster = build_cluster(name, self._memory.generations.get(task, 0) + 1, tools)
        check_cluster([other for other in await self.list(task) if other.name != name], cluster)
        self._memory.generations[task] = cluster.generation
        clusters[name] = (cluster, tuple(tools))
        keyed.store_completion(self._memory, done)
        return cluster

    async def _is_kept(self, task: str) -> bool:
        """Tell whether there is the task, with its workspace and its agent: no deletion of them is under way."""
        stored = self._memory.tasks.get(task)
        if stored is None:
            return False
        try:
            check_workspace(self._memory, stored.workspace, owner=stored.owner)
        except WorkspaceGoneError:
            return False
        agents = MemoryAgents(self._memory)
        return await agents.get(stored.agent, owner=stored.owner, workspace=stored.workspace) is not None

    async def delete(self, task: str, name: str) -> bool:
        return self._memory.clusters.get(task, {}).pop(name, None) is not None

    async def tools(self, task: str) -> Sequence[DeclaredTool]:
        clusters = self._memory.clusters.get(task, {})
        return [tool for name in sorted(clusters) for tool in clusters[name][1]]

    async def page(
        self, task: str, *, after: ToolPlace | None, most: int, enabled: bool = False, select: SelectNames | None = None
    ) -> tuple[Sequence[DeclaredTool], bool]:
        clusters = self._memory.clusters.get(task, {}).items()
        tools = {(name, tool.name): tool for name, (_, stored) in clusters for tool in stored if tool.enabled or not enabled}
        if select is not None:
            names = frozenset(select([tool for _, tool in tools]))
            tools = {place: tool for place, tool in tools.items() if place[1] in names}
        rest = [tools[place] for place in sorted(tools) if after is None or place > after]
        return tuple(rest[:most]), len(rest) > most

    async def find(self, task: str, tool: str) -> DeclaredTool | None:
        return next((declared for declared in await self.tools(task) if declared.name == tool), None)
