"""The ports of workspaces and agents. An id that belongs to somebody else is not found, as one that does not exist."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.workspaces.agent import AGENTS_PER_WORKSPACE_MAX, Agent
from ferryman.domain.workspaces.workspace import WORKSPACES_PER_OWNER_MAX, Workspace


class Workspaces(Protocol):
    """The workspaces of owners, of which the default one exists without being stored.

    `secret` is that of the alerts, stored in the same commit; an update to no address deletes it.
    `create` raises `LimitReachedError` and `AnsweredError`, as `Tasks.create` does. `update` writes only `fields` and
    `updated_at`; it raises `StaleError`, with nothing written, where it was changed since it was read, at `since`, and returns
    whether there is such a workspace: one that is being deleted is none, and stays so.
    """

    async def get(self, workspace: str, *, owner: str) -> Workspace | None: ...
    async def list(self, owner: str) -> Sequence[Workspace]: ...
    async def create(
        self,
        workspace: Workspace,
        *,
        most: int = WORKSPACES_PER_OWNER_MAX,
        done: Completion | None = None,
        secret: SealedCredential | None = None,
    ) -> None: ...
    async def update(
        self, workspace: Workspace, fields: Collection[str], *, since: datetime, secret: SealedCredential | None = None
    ) -> bool: ...


class Agents(Protocol):
    """The agents of workspaces, of which each has a default one that exists without being stored.

    `create` and `update` do what those of `Workspaces` do. They raise `WorkspaceGoneError` where they would store an agent,
    also a default one for the first time, in a workspace that is not there or is being deleted, asked in the same transaction.
    `delete` returns whether there was such an agent.
    """

    async def get(self, agent: str, *, owner: str, workspace: str) -> Agent | None: ...
    async def list(self, owner: str, workspace: str) -> Sequence[Agent]: ...
    async def create(self, agent: Agent, *, most: int = AGENTS_PER_WORKSPACE_MAX, done: Completion | None = None) -> None: ...
    async def update(self, agent: Agent, fields: Collection[str], *, since: datetime) -> bool: ...
    async def delete(self, agent: str, *, owner: str, workspace: str) -> bool: ...
