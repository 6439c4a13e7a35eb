"""The port of a task's declared tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.tools.declared import Cluster, DeclaredTool


class Clusters(Protocol):
    """A task's declared tools, by cluster; names are unique over all of them.

    `put` replaces the tools of the cluster `name`, in one transaction with `done`. It raises `StaleError` when the task was
    deleted, or the cluster is not of the generation `since` (0: it does not exist), `InvalidInputError` for a conflict with the
    task's other clusters, and `AnsweredError` where the request was answered. `delete` returns whether the cluster existed.
    """

    async def list(self, task: str) -> Sequence[Cluster]: ...
    async def put(
        self, task: str, name: str, tools: Sequence[DeclaredTool], *, since: int, done: Completion | None = None
    ) -> Cluster: ...
    async def delete(self, task: str, name: str) -> bool: ...
    async def tools(self, task: str) -> Sequence[DeclaredTool]: ...
    async def find(self, task: str, tool: str) -> DeclaredTool | None: ...
