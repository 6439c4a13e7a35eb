"""The tables over HTTP: integrations, tools, templates of agents, plans and models; what this is, and that it answers."""

from __future__ import annotations

from fastapi import APIRouter, Request

from ferryman.catalog.agents import TEMPLATES
from ferryman.catalog.tools import CATEGORIES, LISTED
from ferryman.serving.api.access import ASKS, CurrentOwner, Dependencies
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.paging import ByName, cut_by_name
from ferryman.serving.api.shapes import table as shapes
from ferryman.serving.api.shapes.plan import PlanResponse

router = APIRouter()


@router.get(
    "/v1/integrations",
    dependencies=[ASKS],
    tags=["tables"],
    summary="The services a task may be approved for, and the catalog of tools",
)
async def list_integrations(deps: Dependencies, paging: ByName) -> shapes.IntegrationList:
    here, following = cut_by_name(deps.integrations.values(), paging, lambda integration: integration.id)
    is_first = paging.after is None
    return shapes.IntegrationList(
        integrations=tuple(map(shapes.IntegrationResponse.model_validate, here)),
        categories=tuple(map(shapes.to_category, CATEGORIES.values())) if is_first else (),
        tools=tuple(map(shapes.to_tool, LISTED.values())) if is_first else (),
        next=following,
    )


@router.get("/v1/integrations/{integration_id}", dependencies=[ASKS], tags=["tables"], summary="One service")
async def get_integration(integration_id: str, deps: Dependencies, _: CurrentOwner) -> shapes.IntegrationResponse:
    known = deps.integrations.get(integration_id)
    if known is None:
        raise NotFoundError("integration")
    return shapes.IntegrationResponse.model_validate(known)


@router.get(
    "/v1/tools", dependencies=[ASKS], tags=["tables"], summary="The tools of the catalog, also those that are not implemented"
)
async def list_tools(_: Dependencies, paging: ByName) -> shapes.ToolList:
    here, following = cut_by_name(LISTED.values(), paging, lambda tool: tool.name)
    return shapes.ToolList(tools=tuple(map(shapes.to_tool, here)), next=following)


@router.get("/v1/agent-templates", dependencies=[ASKS], tags=["tables"], summary="The templates that agents are made from")
async def list_agent_templates(_: Dependencies, paging: ByName) -> shapes.AgentTemplateList:
    here, following = cut_by_name(TEMPLATES.values(), paging, lambda template: template.id)
    return shapes.AgentTemplateList(templates=tuple(map(shapes.to_template, here)), next=following)


@router.get("/v1/plans", dependencies=[ASKS], tags=["tables"], summary="The plans and their limits")
async def list_plans(deps: Dependencies, paging: ByName) -> shapes.PlanList:
    here, following = cut_by_name(deps.plans.values(), paging, lambda plan: plan.name)
    return shapes.PlanList(plans=tuple(map(PlanResponse.model_validate, here)), next=following)


@router.get(
    "/v1/models", dependencies=[ASKS], tags=["tables"], summary="The models a task may name, and what their tokens cost"
)
async def list_models(deps: Dependencies, paging: ByName) -> shapes.ModelList:
    here, following = cut_by_name(deps.models.items(), paging, lambda priced: priced[0])
    return shapes.ModelList(models=tuple(shapes.to_model(name, price) for name, price in here), next=following)


@router.get("/healthz", tags=["about"], summary="That the API answers")
async def get_health() -> shapes.Health:
    return shapes.Health()


@router.get("/", tags=["about"], summary="What this is, and where it is described")
async def get_welcome(request: Request) -> shapes.Welcome:
    return shapes.Welcome(name=request.app.title, version=request.app.version, about=request.app.description)
