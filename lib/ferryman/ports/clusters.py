"""The port of a task's declared tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.tools.declared import Cluster, DeclaredTool


class Clusters(Protocol):
    """A task's declared tools, by cluster; names are unique over all of them.

    `put` stores `tools` as the cluster `name` in place of what it held, at once; it raises `StaleError` when the task is gone,
    or the cluster is not of the generation `since` (0: not there), and `InvalidInputError` for what the task's other clusters
    do not admit. It stores `done` at once with them, and raises `AnsweredError` where the request was answered.
    `delete` tells whether it was there.
    """

    async def list(self, task: str) -> Sequence[Cluster]: ...
    async def put(
        self, task: str, name: str, tools: Sequence[DeclaredTool], *, since: int, done: Completion | None = None
    ) -> Cluster: ...
    async def delete(self, task: str, name: str) -> bool: ...
    async def tools(self, task: str) -> Sequence[DeclaredTool]: ...
    async def find(self, task: str, tool: str) -> DeclaredTool | None: ...
