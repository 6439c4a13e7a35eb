"""What there is, over HTTP: integrations, tools, plans, models, who asks, and that the API answers."""

from __future__ import annotations

from decimal import Decimal

from fastapi import APIRouter

from ferryman.domain.purse import of_owner
from ferryman.serving.api.asking import By, TheHouse
from ferryman.serving.api.faults import not_found
from ferryman.serving.api.shapes import table as shapes

router = APIRouter(tags=["tables"])


@router.get("/v1/integrations", summary="The services a task may be approved for")
async def integrations(house: TheHouse, _: By) -> shapes.IntegrationList:
    known = sorted(house.integrations.values(), key=lambda each: each.id)
    return shapes.IntegrationList(integrations=tuple(shapes.integration(each) for each in known))


@router.get("/v1/integrations/{integration_id}", summary="One service")
async def integration(integration_id: str, house: TheHouse, _: By) -> shapes.IntegrationShown:
    known = house.integrations.get(integration_id)
    if known is None:
        raise not_found("integration")
    return shapes.integration(known)


@router.get("/v1/tools", summary="The tools a task may enable, as the model is shown them")
async def tools(house: TheHouse, _: By) -> shapes.ToolList:
    return shapes.ToolList(tools=tuple(shapes.ToolShown(**tool.definition()) for tool in house.tools))


@router.get("/v1/plans", summary="The plans and their limits")
async def plans(house: TheHouse, _: By) -> shapes.PlanList:
    return shapes.PlanList(plans=tuple(shapes.plan(each) for each in house.plans.values()))


@router.get("/v1/models", summary="The models a task may name, and what their tokens cost")
async def models(house: TheHouse, _: By) -> shapes.ModelList:
    return shapes.ModelList(models=tuple(shapes.model(name, price) for name, price in sorted(house.models.items())))


@router.get("/v1/me", summary="Who you are, and the credits you have left this month")
async def me(house: TheHouse, owner: By) -> shapes.Me:
    plan = house.plans.get(owner.plan)
    purse = (await house.ledger.purse(of_owner(owner.id))).at(house.clock.now())
    spent = purse.credits_used + purse.credits_reserved
    left = Decimal(0) if plan is None else max(Decimal(0), plan.credits_per_month - spent)
    return shapes.Me(
        owner=owner.id,
        plan=owner.plan,
        month=purse.month,
        credits_used=purse.credits_used,
        credits_reserved=purse.credits_reserved,
        credits_left=left,
        halted=await house.halts.standing(owner.id),
        limits=None if plan is None else shapes.plan(plan),
    )


@router.get("/healthz", summary="That the API answers")
async def health() -> shapes.Health:
    return shapes.Health()
