"""The port of contexts: what an execution starts from, read together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ferryman.domain.executions.context import ExecutionContext
from ferryman.domain.owners.owner import Owner
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.member import Membership
from ferryman.domain.workspaces.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextDocuments:
    """The documents of a context, None for each that does not exist, or does not belong to the context's owner or workspace."""

    owner: Owner | None
    workspace: Workspace | None
    agent: Agent | None
    task: Task | None
    member: Membership | None = None
    """The membership of the context's user; None where that is the owner, or a person who is no member any more."""


class Contexts(Protocol):
    """The documents that a context names."""

    async def read(self, context: ExecutionContext) -> ContextDocuments:
        """Return them, read at once. Raise `UnavailableError`."""
        ...
