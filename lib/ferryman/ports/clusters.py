"""The ports of a task's declared tools, and of the documents that they are imported from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.tools.declared import Cluster, DeclaredTool, ToolPlace

SelectNames = Callable[[Sequence[str]], Collection[str]]


class Clusters(Protocol):
    """A task's declared tools, by cluster; names are unique over all of them.

    `put` replaces the tools of the cluster `name`, in one transaction with `done`. It raises `StaleError` when the task was
    deleted, or is being deleted with its agent or workspace: nothing is left then that a deletion would not find; or the
    cluster is not of the generation `since` (0: it does not exist), `InvalidInputError` for a conflict with the task's other
    clusters, and `AnsweredError` where the request was answered. `delete` returns whether the cluster existed. `page` returns
    at most `most` tools by cluster and name, from behind the one at `after`, and whether there are more; with `enabled` only
    such, and only those whose names `select` returns.
    """

    async def list(self, task: str) -> Sequence[Cluster]: ...
    async def put(
        self, task: str, name: str, tools: Sequence[DeclaredTool], *, since: int, done: Completion | None = None
    ) -> Cluster: ...
    async def delete(self, task: str, name: str) -> bool: ...
    async def tools(self, task: str) -> Sequence[DeclaredTool]: ...
    async def page(
        self, task: str, *, after: ToolPlace | None, most: int, enabled: bool = False, select: SelectNames | None = None
    ) -> tuple[Sequence[DeclaredTool], bool]: ...
    async def find(self, task: str, tool: str) -> DeclaredTool | None: ...


class DocumentFetcher(Protocol):
    """Has a key holder fetch a document, with those it refers to, through the gate, for the owner of `task`.

    Returns their texts by URL, in UTF-8. Raises `InvalidInputError` with a message for the owner, or `UnavailableError`.
    """

    async def fetch(self, task: str, *, owner: str, url: str) -> Mapping[str, bytes]: ...
