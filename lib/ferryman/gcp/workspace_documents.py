"""Workspace documents: what one holds, and whether anything may be stored in its workspace."""

from __future__ import annotations

from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceGoneError, WorkspaceState, build_default_workspace
from ferryman.gcp import documents
from ferryman.gcp.store import Snapshot


def read_workspace(snapshot: Snapshot, *, owner: str) -> Workspace | None:
    """Return the workspace in `snapshot`, or the default one of `owner`; None for one that is not there, or not the owner's."""
    stored = documents.read_or_none(Workspace, snapshot)
    if stored is None and snapshot.id == derive_default_workspace(owner):
        return build_default_workspace(owner)
    return stored if stored is not None and stored.owner == owner else None


def check_workspace(snapshot: Snapshot, *, owner: str) -> None:
    """Raise `WorkspaceGoneError` where nothing may be stored in the workspace of `snapshot`, which a transaction has read."""
    stored = read_workspace(snapshot, owner=owner)
    if stored is None or stored.state is WorkspaceState.DELETING:
        raise WorkspaceGoneError
