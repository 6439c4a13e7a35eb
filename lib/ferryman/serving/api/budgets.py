"""Budgets over HTTP: what is used and reserved of this month's caps, and the alerts of caps that are reached."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.exceptions import HTTPException

from ferryman.composition.api import ApiDependencies
from ferryman.domain.credits.balance import name_owner_balance
from ferryman.domain.credits.budget import Budgeted, list_budgets
from ferryman.domain.credits.caps import find_conversation_limit
from ferryman.domain.credits.conversation import ConversationBalance, join_conversations
from ferryman.domain.owners.cap import CapKind, name_person_part
from ferryman.serving.api.access import Dependencies, Reader
from ferryman.serving.api.paging import ByTime
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import alert as alert_shapes
from ferryman.serving.api.shapes import budget as shapes

CONVERSATIONS_MAX = 200
"""How many conversations are told of: those that used or reserved credits last."""

router = APIRouter(prefix="/v1", tags=["budgets"])


class AlertScope(StrEnum):
    """Whose caps the alerts are of."""

    WORKSPACE = "workspace"
    PLAN = "plan"


Of = Annotated[AlertScope, Query(description="plan: those of the owner's plan, with the owner's own key alone")]


@router.get("/budget", summary="What is used and reserved of this month's caps; the plan's with the owner's own key alone")
async def get_budget(deps: Dependencies, caller: Reader) -> shapes.BudgetList:
    balance = (await deps.ledger.balance(name_owner_balance(caller.owner.id))).at(deps.clock.now())
    stored = await deps.ledger.list_conversations(caller.workspace, most=CONVERSATIONS_MAX)
    conversations = [item for item in stored if item.is_counted(balance.month)]
    things = [thing async for thing in _list_budgeted(deps, caller, conversations)]
    rows = list_budgets(join_conversations(balance, conversations), things)
    return shapes.BudgetList(month=balance.month, budgets=tuple(map(shapes.BudgetResponse.model_validate, rows)))


@router.get("/alerts", summary="The alerts of the workspace's caps, the newest first")
async def list_alerts(
    deps: Dependencies, caller: Reader, paging: ByTime, of: Of = AlertScope.WORKSPACE
) -> alert_shapes.AlertList:
    if of is AlertScope.PLAN and caller.person:
        raise HTTPException(403, "this needs the owner's own key: the plan is the owner's alone")
    workspace = "" if of is AlertScope.PLAN else caller.workspace
    page = await deps.alerts.list(caller.owner.id, workspace, after=paging.after, most=paging.limit)
    return alert_shapes.AlertList(
        alerts=tuple(map(alert_shapes.AlertResponse.model_validate, page)), next=paging.write_next(page.end)
    )


async def _list_budgeted(
    deps: ApiDependencies, caller: Caller, conversations: Iterable[ConversationBalance]
) -> AsyncIterator[Budgeted]:
    """List what may have a cap and is the caller's to see, from the outermost to the innermost."""
    owner, here = caller.owner, caller.workspace
    plan = deps.plans.get(owner.plan)
    if caller.key.is_own and plan is not None:
        yield Budgeted(kind=CapKind.OWNER, id=owner.id, name=f"plan {plan.name}", limit=plan.credits_per_month)
    workspaces = {workspace.id: workspace for workspace in await deps.workspaces.list(owner.id)}
    agents = {agent.id: agent for agent in await deps.agents.list(owner.id, here)}
    for workspace in workspaces.values():
        if caller.key.is_own or workspace.id == here:
            limit = workspace.max_credits_month
            yield Budgeted(kind=CapKind.WORKSPACE, id=workspace.id, name=workspace.name, limit=limit)
    for agent in agents.values():
        yield Budgeted(kind=CapKind.AGENT, id=agent.id, name=agent.name, limit=agent.max_credits_month)
    for member, person in await deps.members.list(owner.id, here):
        part, name = name_person_part(here, member.person), "" if person is None else person.name
        yield Budgeted(kind=CapKind.PERSON, id=part, name=name, limit=member.max_credits_month)
    for task in await deps.tasks.list(here):
        yield Budgeted(kind=CapKind.TASK, id=task.id, name=task.name, limit=task.max_credits_month)
    for item in conversations:
        limit, _ = find_conversation_limit(workspaces.get(here), agents.get(item.agent))
        yield Budgeted(kind=CapKind.CONVERSATION, id=item.part_id, name=item.conversation, limit=limit)
