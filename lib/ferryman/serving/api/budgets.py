"""Budgets over HTTP: what is used and reserved of this month's caps."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter

from ferryman.composition.api import ApiDependencies
from ferryman.domain.credits.balance import CreditBalance, name_owner_balance
from ferryman.domain.credits.budget import Budgeted, list_budgets
from ferryman.domain.owners.cap import CapKind
from ferryman.serving.api.access import Dependencies, Reader
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import budget as shapes

router = APIRouter(prefix="/v1", tags=["budgets"])


@router.get("/budget", summary="What is used and reserved of this month's caps; the plan's with the owner's own key alone")
async def get_budget(deps: Dependencies, caller: Reader) -> shapes.BudgetList:
    balance = (await deps.ledger.balance(name_owner_balance(caller.owner.id))).at(deps.clock.now())
    things = [thing async for thing in _list_budgeted(deps, caller, balance)]
    rows = list_budgets(balance, things)
    return shapes.BudgetList(month=balance.month, budgets=tuple(map(shapes.BudgetResponse.model_validate, rows)))


async def _list_budgeted(deps: ApiDependencies, caller: Caller, balance: CreditBalance) -> AsyncIterator[Budgeted]:
    """List what may have a cap and is the caller's to see, from the outermost to the innermost."""
    owner, here = caller.owner, caller.workspace
    plan = deps.plans.get(owner.plan)
    if caller.key.is_own and plan is not None:
        yield Budgeted(kind=CapKind.OWNER, id=owner.id, name=f"plan {plan.name}", limit=plan.credits_per_month)
    for workspace in await deps.workspaces.list(owner.id):
        if caller.key.is_own or workspace.id == here:
            limit = workspace.max_credits_month
            yield Budgeted(kind=CapKind.WORKSPACE, id=workspace.id, name=workspace.name, limit=limit)
    for name in balance.parts:
        kind, _, person = name.partition(":")
        if kind == CapKind.PERSON and person.startswith(f"{here}/"):
            yield Budgeted(kind=CapKind.PERSON, id=person, name="")
    for task in await deps.tasks.list(here):
        yield Budgeted(kind=CapKind.TASK, id=task.id, name=task.name, limit=task.max_credits_month)
