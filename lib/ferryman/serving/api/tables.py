"""What there is, over HTTP: integrations, tools, plans, models, who asks, and that the API answers."""

from __future__ import annotations

from decimal import Decimal

from fastapi import APIRouter

from ferryman.domain.credits.balance import name_owner_balance
from ferryman.serving.api.access import CurrentOwner, Dependencies
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.shapes import table as shapes

router = APIRouter(tags=["tables"])


@router.get("/v1/integrations", summary="The services a task may be approved for")
async def list_integrations(deps: Dependencies, _: CurrentOwner) -> shapes.IntegrationList:
    known = sorted(deps.integrations.values(), key=lambda integration: integration.id)
    return shapes.IntegrationList(integrations=tuple(shapes.to_integration(integration) for integration in known))


@router.get("/v1/integrations/{integration_id}", summary="One service")
async def get_integration(integration_id: str, deps: Dependencies, _: CurrentOwner) -> shapes.IntegrationResponse:
    known = deps.integrations.get(integration_id)
    if known is None:
        raise NotFoundError("integration")
    return shapes.to_integration(known)


@router.get("/v1/tools", summary="The tools a task may enable, as the model is shown them")
async def list_tools(deps: Dependencies, _: CurrentOwner) -> shapes.ToolList:
    return shapes.ToolList(tools=tuple(shapes.ToolResponse(**tool.to_definition()) for tool in deps.tools))


@router.get("/v1/plans", summary="The plans and their limits")
async def list_plans(deps: Dependencies, _: CurrentOwner) -> shapes.PlanList:
    return shapes.PlanList(plans=tuple(shapes.to_plan(plan) for plan in deps.plans.values()))


@router.get("/v1/models", summary="The models a task may name, and what their tokens cost")
async def list_models(deps: Dependencies, _: CurrentOwner) -> shapes.ModelList:
    return shapes.ModelList(models=tuple(shapes.to_model(name, price) for name, price in sorted(deps.models.items())))


@router.get("/v1/me", summary="Who you are, and the credits you have left this month")
async def get_me(deps: Dependencies, owner: CurrentOwner) -> shapes.Me:
    plan = deps.plans.get(owner.plan)
    balance = (await deps.ledger.balance(name_owner_balance(owner.id))).at(deps.clock.now())
    spent = balance.credits_used + balance.credits_reserved
    remaining = Decimal(0) if plan is None else max(Decimal(0), plan.credits_per_month - spent)
    return shapes.Me(
        owner=owner.id,
        plan=owner.plan,
        month=balance.month,
        credits_used=balance.credits_used,
        credits_reserved=balance.credits_reserved,
        credits_left=remaining,
        halted=await deps.halts.find_halt_reason(owner.id),
        limits=None if plan is None else shapes.to_plan(plan),
    )


@router.get("/healthz", summary="That the API answers")
async def get_health() -> shapes.Health:
    return shapes.Health()
