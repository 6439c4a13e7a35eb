"""Storing custom tools: a cluster replaced by what was imported, a tool added to those of no cluster, or taken from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ferryman import ports
from ferryman.domain.declared import Cluster, Declared
from ferryman.openapi import Imported

Change = Callable[[Sequence[Declared]], Iterable[Declared]]
"""What a cluster holds, made of what it held."""

TRIES = 5
"""How often storing is tried against others' changes of the same cluster."""


async def stored(clusters: ports.Clusters, task: str, imported: Imported) -> Cluster:
    """The cluster as stored in place of what it held (S3-61). Raises `Invalid`, and `Stale` when others are at it too."""
    return await _put(clusters, task, imported.cluster, lambda _: imported.tools)


async def added(clusters: ports.Clusters, task: str, tools: Sequence[Declared]) -> Cluster:
    """The tools of no cluster with `tools` before them, each in place of one of its name. Raises as `stored` does, and then
    numbers `tools` as they were given."""
    names = {each.name for each in tools}
    return await _put(clusters, task, "", lambda held: (*tools, *(each for each in held if each.name not in names)))


async def removed(clusters: ports.Clusters, task: str, name: str) -> bool:
    """Whether a tool of this name was there to be removed, from whatever cluster."""
    tool = await clusters.find(task, name)
    if tool is None:
        return False
    await _put(clusters, task, tool.cluster, lambda held: [each for each in held if each.name != name])
    return True


async def _put(clusters: ports.Clusters, task: str, name: str, change: Change) -> Cluster:
    for _ in range(TRIES):
        since = {each.name: each.generation for each in await clusters.list(task)}.get(name, 0)
        held = [each for each in await clusters.tools(task) if each.cluster == name]
        try:
            return await clusters.put(task, name, [*change(held)], since=since)
        except ports.Stale as stale:
            last = stale
    raise last
