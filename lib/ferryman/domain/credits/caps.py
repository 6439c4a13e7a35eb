"""The caps of an execution, frozen when it begins: a cap that is changed holds for the executions that begin after."""

from __future__ import annotations

from decimal import Decimal

from ferryman.domain.owners.cap import Cap, CapKind, name_person_part
from ferryman.domain.tasks.task import TaskSummary
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.member import Membership
from ferryman.domain.workspaces.workspace import Workspace


def collect_caps(
    task: TaskSummary, *, workspace: Workspace | None = None, agent: Agent | None = None, member: Membership | None = None
) -> tuple[Cap, ...]:
    """Return the caps that hold for an execution of `task` beside that of its owner's plan, the outermost first."""
    limits: list[tuple[CapKind, str, Decimal | None]] = []
    if workspace is not None:
        limits.append((CapKind.WORKSPACE, workspace.id, workspace.max_credits_month))
    if agent is not None:
        limits.append((CapKind.AGENT, agent.id, agent.max_credits_month))
    if member is not None:
        limits.append((CapKind.PERSON, name_person_part(member.workspace, member.person), member.max_credits_month))
    limits.append((CapKind.TASK, task.id, task.max_credits_month))
    return tuple(Cap(kind=kind, id=name, credits=limit) for kind, name, limit in limits if limit is not None)
