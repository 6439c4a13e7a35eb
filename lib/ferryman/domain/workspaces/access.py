"""Access: what the holder of an API key is at the moment of a request. It is read with each one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ferryman.domain.owners.owner import Owner
from ferryman.domain.workspaces.api_key import NARROWED_RIGHTS, ApiKey
from ferryman.domain.workspaces.member import Membership, Right, limit_rights
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceState


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyAccess:
    """The owner and the workspace of a request, and the membership of the person who asks; None: there is no such document.

    The membership is None too where the owner's own key asks, which needs none.
    """

    owner: Owner | None
    workspace: Workspace | None
    membership: Membership | None = None

    def finds_workspace(self, key: ApiKey) -> bool:
        """Tell whether there is such a workspace for who holds `key`: another owner's is none, and neither is a deleted one."""
        return (
            self.workspace is not None
            and self.workspace.owner == key.owner
            and self.workspace.state is not WorkspaceState.DELETING
        )


def judge_key(key: ApiKey, access: KeyAccess, *, now: datetime) -> frozenset[Right] | None:
    """Return the rights of a request with `key`, or None where the key lets nobody in: it has expired, or its owner is gone, or
    its person is no member of its workspace any more."""
    if access.owner is None or key.is_expired(now):
        return None
    if key.person and not is_member(key, access.membership):
        return None
    rights = limit_rights(access.membership if key.person else None, key.scopes)
    return rights if key.tools is None else rights & NARROWED_RIGHTS


def is_member(key: ApiKey, membership: Membership | None) -> bool:
    """Tell whether `membership` is that of the person who holds `key`, in the workspace that the key is for."""
    return membership is not None and (membership.owner, membership.workspace, membership.person) == (
        key.owner,
        key.workspace,
        key.person,
    )
