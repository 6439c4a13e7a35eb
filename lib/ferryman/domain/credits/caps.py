"""The caps of an execution, frozen when it begins: a cap that is changed holds for the executions that begin after."""

from __future__ import annotations

from decimal import Decimal

from ferryman.domain.owners.cap import Cap, CapKind, name_conversation_part, name_person_part
from ferryman.domain.tasks.task import TaskSummary
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.member import Membership
from ferryman.domain.workspaces.workspace import Workspace


def collect_caps(
    task: TaskSummary,
    *,
    workspace: Workspace | None = None,
    agent: Agent | None = None,
    member: Membership | None = None,
    conversation: str = "",
) -> tuple[Cap, ...]:
    """Return the caps that hold for an execution of `task` beside that of its owner's plan, the outermost first.

    `conversation` is the one that it belongs to, "" for none.
    """
    limits: list[tuple[CapKind, str, Decimal | None]] = []
    if workspace is not None:
        limits.append((CapKind.WORKSPACE, workspace.id, workspace.max_credits_month))
    if agent is not None:
        limits.append((CapKind.AGENT, agent.id, agent.max_credits_month))
    if member is not None:
        limits.append((CapKind.PERSON, name_person_part(member.workspace, member.person), member.max_credits_month))
    limits.append((CapKind.TASK, task.id, task.max_credits_month))
    caps = tuple(Cap(kind=kind, id=name, credits=limit) for kind, name, limit in limits if limit is not None)
    limit, set_by = find_conversation_limit(workspace, agent)
    if not conversation or limit is None:
        return caps
    part = name_conversation_part(task.agent, conversation)
    return (*caps, Cap(kind=CapKind.CONVERSATION, id=part, credits=limit, set_by=set_by))


def find_conversation_limit(workspace: Workspace | None, agent: Agent | None) -> tuple[Decimal | None, CapKind | None]:
    """Return the lower of both limits of a conversation of `agent`, in credits a month, and who sets it; None for none."""
    known = [
        (holder.conversation_credits_max, kind)
        for holder, kind in ((agent, CapKind.AGENT), (workspace, CapKind.WORKSPACE))
        if holder is not None and holder.conversation_credits_max is not None
    ]
    return min(known, key=lambda pair: pair[0]) if known else (None, None)
