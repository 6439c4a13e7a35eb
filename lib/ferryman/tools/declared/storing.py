"""Storing custom tools: a cluster replaced by what was imported, a tool added to those of no cluster, or taken from them.

What a cluster comes to is made in a worker of what is stored: some thousand tools are not read here.
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
"""What a cluster is to hold now."""

ATTEMPTS_MAX = 5
"""How often storing is tried against others' changes of the same cluster."""


async def store_cluster(clusters: Clusters, task: str, made: ImportedTools, done: Completion | None = None) -> Cluster:
    """The cluster as stored in place of what it held (S3-61), and `done` with it.

    Raises `InvalidInputError`, `StaleError` when others are at it too, and `AnsweredError`.
    """

    async def change() -> Sequence[DeclaredTool]:
        return made.tools

    return await _put(clusters, task, made.cluster, change, done)


async def add_tools(clusters: Clusters, task: str, tools: Sequence[DeclaredTool], done: Completion | None = None) -> Cluster:
    """The tools of no cluster with `tools` before them, each in place of one of its name. Raises as `store_cluster` does, and
    then numbers `tools` as they were given."""

    async def change() -> Sequence[DeclaredTool]:
        return await run_document_worker(task, "tools", merge_tools, await clusters.tools(task), tools)

    return await _put(clusters, task, "", change, done)


async def check_addition(clusters: Clusters, task: str, tools: Sequence[DeclaredTool]) -> None:
    """Raise `InvalidInputError` where `add_tools` would, as things are now. Nothing is stored."""
    others = [each for each in await clusters.list(task) if each.name]
    await run_document_worker(task, "tools", check_merge, others, await clusters.tools(task), tools)


async def remove_tool(clusters: Clusters, task: str, name: str) -> bool:
    """Whether a tool of this name was there to be removed, from whatever cluster."""
    tool = await clusters.find(task, name)
    if tool is None:
        return False

    async def change() -> Sequence[DeclaredTool]:
        return await run_document_worker(task, "tools", drop_tool, await clusters.tools(task), tool.cluster, name)

    await _put(clusters, task, tool.cluster, change)
    return True


def merge_tools(stored: Sequence[DeclaredTool], tools: Sequence[DeclaredTool]) -> PackedSequence[DeclaredTool]:
    """`tools`, and of `store_cluster` those of no cluster that have other names."""
    names = {each.name for each in tools}
    return PackedSequence([*tools, *(each for each in stored if not each.cluster and each.name not in names)])


def check_merge(others: Sequence[Cluster], stored: Sequence[DeclaredTool], tools: Sequence[DeclaredTool]) -> None:
    """Raise `InvalidInputError` where `merge_tools` would not be admitted beside the `others`."""
    check_cluster(others, build_cluster("", 0, merge_tools(stored, tools)))


def drop_tool(stored: Sequence[DeclaredTool], cluster: str, name: str) -> PackedSequence[DeclaredTool]:
    """Of `store_cluster` those of `cluster`, but the one of this name."""
    return PackedSequence(each for each in stored if each.cluster == cluster and each.name != name)


async def _put(clusters: Clusters, task: str, name: str, change: Change, done: Completion | None = None) -> Cluster:
    for _ in range(ATTEMPTS_MAX):
        since = {each.name: each.generation for each in await clusters.list(task)}.get(name, 0)
        try:
            return await clusters.put(task, name, await change(), since=since, done=done)
        except StaleError as stale:
            last = stale
    raise last
