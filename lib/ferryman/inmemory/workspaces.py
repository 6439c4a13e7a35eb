"""Workspaces in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credits.alert_message import SECRET_NAME
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import (
    WORKSPACES_PER_OWNER_MAX,
    Workspace,
    WorkspaceGoneError,
    WorkspaceState,
    build_default_workspace,
    order_workspaces,
)
from ferryman.inmemory import keyed
from ferryman.inmemory.memory import Memory, MemoryStore


def check_workspace(memory: Memory, workspace: str, *, owner: str) -> None:
    """Raise `WorkspaceGoneError` where nothing may be stored in the workspace."""
    stored = memory.workspaces.get(workspace)
    if stored is None and workspace == derive_default_workspace(owner):
        return
    if stored is None or stored.owner != owner or stored.state is WorkspaceState.DELETING:
        raise WorkspaceGoneError


class MemoryWorkspaces(MemoryStore):
    """`ports.Workspaces`."""

    async def get(self, workspace: str, *, owner: str) -> Workspace | None:
        stored = self._memory.workspaces.get(workspace)
        if stored is None and workspace == derive_default_workspace(owner):
            return build_default_workspace(owner)
        return stored if stored is not None and stored.owner == owner else None

    async def list(self, owner: str) -> Sequence[Workspace]:
        return order_workspaces(owner, [stored for stored in self._memory.workspaces.values() if stored.owner == owner])

    async def create(
        self,
        workspace: Workspace,
        *,
        most: int = WORKSPACES_PER_OWNER_MAX,
        done: Completion | None = None,
        secret: SealedCredential | None = None,
    ) -> None:
        keyed.check_completion(self._memory, done)
        if workspace.id in self._memory.workspaces:
            return
        check_limit(len(await self.list(workspace.owner)), most, of="workspaces")
        self._memory.workspaces[workspace.id] = workspace
        self._store_secret(secret)
        keyed.store_completion(self._memory, done)

    async def update(
        self, workspace: Workspace, fields: Collection[str], *, since: datetime, secret: SealedCredential | None = None
    ) -> bool:
        stored = await self.get(workspace.id, owner=workspace.owner)
        if stored is None or stored.state is WorkspaceState.DELETING:
            return False
        if stored.updated_at != since:
            raise StaleError("changed by somebody else")
        changes: dict[str, Any] = {name: getattr(workspace, name) for name in (*fields, "updated_at")}
        self._memory.workspaces[workspace.id] = replace(stored, **changes)
        if "alert_url" in fields and workspace.alert_url is None:
            self._memory.credentials.get(workspace.id, {}).pop(SECRET_NAME, None)
        self._store_secret(secret)
        return True

    def _store_secret(self, secret: SealedCredential | None) -> None:
        if secret is not None:
            self._memory.credentials.setdefault(secret.label.task, {})[secret.label.name] = secret
