"""The id by which local functions know a user."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

from ferryman.domain.executions.context import ExecutionContext
from ferryman.domain.workspaces.names import derive_default_workspace


def build_user_id(context: ExecutionContext) -> str:
    """Return the id by which local functions know a user in a workspace: always the same UUID, which tells no name (S2-2).

    The same person has another one in another workspace, and so nothing of what is kept there. An owner in the default
    workspace has the one that every owner had before there were workspaces: what was kept for them stays theirs.
    """
    return derive_user_id(context.user, owner=context.owner, workspace=context.workspace)


def derive_user_id(user: str, *, owner: str, workspace: str) -> str:
    """Return `build_user_id` of a person, or of the owner, in a workspace of `owner`."""
    if (user, workspace) == (owner, derive_default_workspace(owner)):
        return str(uuid5(NAMESPACE_URL, owner))
    return str(uuid5(NAMESPACE_URL, f"{workspace}\0{user}"))
