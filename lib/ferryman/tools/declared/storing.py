"""Storing custom tools: replace a cluster by what was imported, add a tool to those without a cluster, or remove one.

The new contents of a cluster are computed in a worker: thousands of stored tools are not read here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.stale import StaleError
from ferryman.domain.tools.declared import Cluster, DeclaredTool, build_cluster, check_cluster
from ferryman.offload import PackedSequence
from ferryman.ports.clusters import Clusters
from ferryman.tools.declared.importing import ImportedTools, run_document_worker

Change = Callable[[], Awaitable[Sequence[DeclaredTool]]]
"""Returns the tools that a cluster is to have now."""

ATTEMPTS_MAX = 5
"""How often storing is tried against concurrent changes of the same cluster."""


async def store_cluster(clusters: Clusters, task: str, imported: ImportedTools, done: Completion | None = None) -> Cluster:
    """Store a cluster in place of its former tools (S3-61), `done` with it, and return it.

    Raise `InvalidInputError`, `StaleError` when there are too many concurrent changes, and `AnsweredError`.
    """

    async def change() -> Sequence[DeclaredTool]:
        return imported.tools

    return await _put(clusters, task, imported.cluster, change, done)


async def add_tools(clusters: Clusters, task: str, tools: Sequence[DeclaredTool], done: Completion | None = None) -> Cluster:
    """Add `tools` before the others without a cluster, each in place of one of its name.

    Raise as `store_cluster` does; the fields of its problems number `tools` in their order.
    """

    async def change() -> Sequence[DeclaredTool]:
        return await run_document_worker(task, "tools", merge_tools, await clusters.tools(task), tools)

    return await _put(clusters, task, "", change, done)


async def extend_cluster(clusters: Clusters, task: str, name: str, tools: Sequence[DeclaredTool]) -> Cluster:
    """Add `tools` to the cluster `name`, each in place of one of its name. Raise as `store_cluster` does."""

    async def change() -> Sequence[DeclaredTool]:
        return await run_document_worker(task, "tools", merge_tools, await clusters.tools(task), tools, name)

    return await _put(clusters, task, name, change)


async def check_addition(clusters: Clusters, task: str, tools: Sequence[DeclaredTool]) -> None:
    """Raise `InvalidInputError` where `add_tools` would, as things are now. Nothing is stored."""
    others = [cluster for cluster in await clusters.list(task) if cluster.name]
    await run_document_worker(task, "tools", check_merge, others, await clusters.tools(task), tools)


async def remove_tool(clusters: Clusters, task: str, name: str) -> bool:
    """Remove the tool of this name from its cluster; say whether there was one."""
    tool = await clusters.find(task, name)
    if tool is None:
        return False

    async def change() -> Sequence[DeclaredTool]:
        return await run_document_worker(task, "tools", drop_tool, await clusters.tools(task), tool.cluster, name)

    await _put(clusters, task, tool.cluster, change)
    return True


def merge_tools(
    stored: Sequence[DeclaredTool], tools: Sequence[DeclaredTool], cluster: str = ""
) -> PackedSequence[DeclaredTool]:
    """Return `tools`, and those of `stored` in `cluster`, by default without one, that have other names."""
    names = {tool.name for tool in tools}
    return PackedSequence([*tools, *(tool for tool in stored if tool.cluster == cluster and tool.name not in names)])


def check_merge(others: Sequence[Cluster], stored: Sequence[DeclaredTool], tools: Sequence[DeclaredTool]) -> None:
    """Raise `InvalidInputError` where the result of `merge_tools` may not be stored beside the `others`."""
    check_cluster(others, build_cluster("", 0, merge_tools(stored, tools)))


def drop_tool(stored: Sequence[DeclaredTool], cluster: str, name: str) -> PackedSequence[DeclaredTool]:
    """Return those of `stored` that are in `cluster`, without the one of this name."""
    return PackedSequence(tool for tool in stored if tool.cluster == cluster and tool.name != name)


async def _put(clusters: Clusters, task: str, name: str, change: Change, done: Completion | None = None) -> Cluster:
    for _ in range(ATTEMPTS_MAX):
        since = {cluster.name: cluster.generation for cluster in await clusters.list(task)}.get(name, 0)
        try:
            return await clusters.put(task, name, await change(), since=since, done=done)
        except StaleError as stale:
            last = stale
    raise last
