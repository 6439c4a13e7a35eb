"""Workspaces: a closed part of what an owner has. Nothing in one is seen, counted or used from another (S4-97, S4-100)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum

from ferryman.domain.approvals.rules import ApprovalRule
from ferryman.domain.workspaces.imports import ArchiveImport
from ferryman.domain.workspaces.names import derive_default_workspace

NAME_CHARACTERS_MAX = 100
WORKSPACES_PER_OWNER_MAX = 50
"""With the default one."""

DEFAULT_NAME = "Default"
CREDIT_LIMITS = ("max_credits_month", "conversation_credits_max")
"""The limits of credits that a workspace and an agent may have."""

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
"""When what exists without a document counts as created and changed."""


class WorkspaceGoneError(Exception):
    """The workspace of what was to be stored is not there, or is being deleted. Nothing was stored."""


class WorkspaceState(StrEnum):
    """What can be done with a workspace."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    """It can be read, and nothing in it is started or changed until it is active again."""
    IMPORTING = "importing"
    """An import fills it: it can be read and deleted, and nothing in it is started or changed by anybody else."""
    DELETING = "deleting"
    """It is not found any more; a job deletes what is in it."""


CLOSED = {WorkspaceState.ARCHIVED: "it is restored", WorkspaceState.IMPORTING: "its import is finished"}
"""The states of a workspace in which it can be read alone, each with what ends it."""


class WorkspaceClosedError(Exception):
    """The workspace is archived, or an import fills it. Nothing was stored."""

    def __init__(self, state: WorkspaceState) -> None:
        super().__init__(f"the workspace is {state}: nothing in it is started or changed until {CLOSED[state]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A workspace as stored.

    `allowed_tools` are the names of the tools that may be called in it; an empty list allows every tool. `max_credits_month` is
    its limit of credits in a month (UTC), `conversation_credits_max` that of each conversation in it, `alert_url` where its
    alerts are sent, and `retention_days` how many days its executions are kept after their end, at most as many as the
    deployment keeps any; None: no limit, no address, as the deployment. `imported` is of a workspace that an import
    made: what it is of, and how far it is. `approvals` are its rules of which calls wait for
    a person.
    """

    id: str
    owner: str
    name: str
    state: WorkspaceState = WorkspaceState.ACTIVE
    allowed_tools: tuple[str, ...] = ()
    max_credits_month: Decimal | None = None
    conversation_credits_max: Decimal | None = None
    alert_url: str | None = field(default=None, repr=False)
    retention_days: int | None = None
    approvals: tuple[ApprovalRule, ...] = ()
    imported: ArchiveImport | None = None
    created_at: datetime
    updated_at: datetime

    @property
    def is_default(self) -> bool:
        """Whether it is its owner's default workspace, which cannot be archived or deleted."""
        return self.id == derive_default_workspace(self.owner)


def check_active(stored: Workspace | None) -> None:
    """Raise `WorkspaceGoneError` where there is no such workspace or it is being deleted, and `WorkspaceClosedError`."""
    if stored is None or stored.state is WorkspaceState.DELETING:
        raise WorkspaceGoneError
    if stored.state in CLOSED:
        raise WorkspaceClosedError(stored.state)


def build_default_workspace(owner: str) -> Workspace:
    """Return the default workspace of `owner` as it is before anybody changed it."""
    name = derive_default_workspace(owner)
    return Workspace(id=name, owner=owner, name=DEFAULT_NAME, created_at=BEGINNING, updated_at=BEGINNING)


def order_workspaces(owner: str, stored: Iterable[Workspace]) -> tuple[Workspace, ...]:
    """Return the workspaces of `owner`, of which the `stored` ones are given: the default one first, then the oldest first."""
    known = {workspace.id: workspace for workspace in (build_default_workspace(owner), *stored)}
    return tuple(sorted(known.values(), key=lambda workspace: (not workspace.is_default, workspace.created_at, workspace.id)))
