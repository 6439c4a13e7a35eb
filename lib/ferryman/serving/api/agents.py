"""Agents over HTTP: those of the workspace that a request acts in, and what each may call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from ferryman.catalog.agents import TEMPLATES
from ferryman.catalog.tools import LISTED, TOOLS, list_enabled
from ferryman.composition.api import ApiDependencies
from ferryman.domain.approvals.rules import ApprovalRules
from ferryman.domain.approvals.summary import find_asking
from ferryman.domain.changes import change_value
from ferryman.domain.ids import is_id
from ferryman.domain.jobs.job import JobKind
from ferryman.domain.problem import build_input_error
from ferryman.domain.remote_servers.server import fingerprint_tools
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.correction import FlowCorrection
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.tools.settings import ToolSettings, find_settings
from ferryman.domain.workspaces import agent as rules
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.effective_policy import PolicyRow, ToolLimits, compute_policy
from ferryman.serving.api.access import READS, CurrentCaller, Dependencies, Manager, Reader, get_plan
from ferryman.serving.api.agent_checks import check_agent
from ferryman.serving.api.errors import ConflictError, NotFoundError
from ferryman.serving.api.flow_signatures import describe_signature
from ferryman.serving.api.idempotency import Idempotency, IdempotentRoute
from ferryman.serving.api.jobs import answer_again, build_job, find_started_job, start_job
from ferryman.serving.api.paging import ByName, cut_by_name
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import agent as shapes
from ferryman.serving.api.shapes.job import JobResponse
from ferryman.serving.api.shapes.rule import build_rules

router = APIRouter(route_class=IdempotentRoute, prefix="/v1/agents", tags=["agents"])


HAS_TASKS = "the agent has tasks: give them to another agent, or delete them with it (tasks=delete)"

WithTasks = Annotated[
    Literal["refuse", "delete"],
    Query(description="refuse: an agent that has tasks is not deleted; delete: its tasks and their executions go with it"),
]
OfCatalog = Annotated[bool, Query(description="Only tools of the catalog: none that is declared, or of an MCP server")]
OfTask = Annotated[str | None, Query(max_length=64, description="A task's id: what its executions could call")]


async def _agent(agent_id: str, deps: Dependencies, caller: CurrentCaller) -> Agent:
    return await find_agent(deps, caller, agent_id)


OwnedAgent = Annotated[Agent, Depends(_agent)]


async def find_agent(deps: ApiDependencies, caller: Caller, agent: str) -> Agent:
    """Return the agent of this id in the caller's workspace. Raise `NotFoundError`."""
    stored = await deps.agents.get(agent, owner=caller.owner.id, workspace=caller.workspace) if is_id(agent) else None
    if stored is None:
        raise NotFoundError("agent")
    return stored


@router.post("", status_code=201, summary="Create an agent, from a template if you like")
async def create_agent(
    body: shapes.NewAgent, deps: Dependencies, caller: Manager, once: Idempotency, response: Response
) -> shapes.AgentResponse:
    now = once.now
    place: dict[str, Any] = {"owner": caller.owner.id, "workspace": caller.workspace}
    fields = {"name": "", **_read_template(body.template), **_read_fields(body), **place}
    agent = Agent(id=once.name("agent"), created_at=now, updated_at=now, **fields)
    await check_agent(deps, caller, agent)
    answer, location = shapes.AgentResponse.model_validate(agent), f"/v1/agents/{agent.id}"
    await deps.agents.create(agent, done=await once.complete(201, answer, location=location))
    response.headers["Location"] = location
    return answer


@router.get("", summary="The agents of the workspace")
async def list_agents(deps: Dependencies, caller: Reader, paging: ByName) -> shapes.AgentList:
    agents = await deps.agents.list(caller.owner.id, caller.workspace)
    here, following = cut_by_name(agents, paging, lambda agent: agent.id)
    return shapes.AgentList(agents=tuple(map(shapes.AgentResponse.model_validate, here)), next=following)


@router.get("/{agent_id}", dependencies=[READS], summary="One agent")
async def get_agent(agent: OwnedAgent) -> shapes.AgentResponse:
    return shapes.AgentResponse.model_validate(agent)


@router.patch("/{agent_id}", summary="Change some fields of an agent")
async def change_agent(
    body: shapes.AgentChange, agent: OwnedAgent, deps: Dependencies, caller: Manager
) -> shapes.AgentResponse:
    if agent.archived:
        raise ConflictError("the agent is archived: restore it first")
    changes = _read_fields(body)
    changed = change_value(agent, changes, now=deps.clock.now())
    await check_agent(deps, caller, changed)
    return await _update(deps, agent, changed, changes)


@router.post("/{agent_id}/archive", summary="Archive an agent: none of its tasks is started until it is restored")
async def archive_agent(agent: OwnedAgent, deps: Dependencies, _: Manager) -> shapes.AgentResponse:
    if agent.is_default:
        raise ConflictError("the default agent cannot be archived")
    return await _set_archived(deps, agent, archived=True)


@router.post("/{agent_id}/restore", summary="Make an archived agent active again")
async def restore_agent(agent: OwnedAgent, deps: Dependencies, _: Manager) -> shapes.AgentResponse:
    return await _set_archived(deps, agent, archived=False)


@router.delete("/{agent_id}", status_code=202, summary="Delete an agent, with its tasks if you say so")
async def delete_agent(
    agent_id: str,
    deps: Dependencies,
    caller: Manager,
    request: Request,
    response: Response,
    tasks: WithTasks = "refuse",
) -> JobResponse:
    try:
        agent = await find_agent(deps, caller, agent_id)
        if agent.is_default:
            raise ConflictError("the default agent cannot be deleted")
        job = build_job(deps, caller, JobKind.DELETE_AGENT, agent.id)
        return await start_job(deps, caller, job, response, spares_tasks=tasks == "refuse")
    except rules.AgentHasTasksError:
        raise ConflictError(HAS_TASKS) from None
    except NotFoundError:
        started = await find_started_job(deps, caller, (JobKind.DELETE_AGENT,), agent_id)
        if started is None:
            raise
        return answer_again(started, request, response)


@router.get("/{agent_id}/policy", summary="Which tools an agent may call, and which level takes the others away")
async def get_agent_policy(
    agent: OwnedAgent,
    deps: Dependencies,
    caller: Reader,
    paging: ByName,
    task: OfTask = None,
    catalog: OfCatalog = False,
) -> shapes.AgentPolicy:
    known = None if task is None else await _find_task(deps, caller, task)
    workspace = await deps.workspaces.get(caller.workspace, owner=caller.owner.id)
    if workspace is None:
        raise NotFoundError("workspace")
    plan = get_plan(deps, caller.owner)
    declared = {}
    if known is not None and not catalog:
        declared = {tool.name: tool for tool in await deps.clusters.tools(known.id) if tool.enabled}
    rows = compute_policy(
        ToolLimits(agent=agent.allowed_tools, workspace=workspace.allowed_tools, plan=plan.tools),
        listed=tuple(LISTED),
        implemented={tool.name for tool in deps.tools},
        task=None if known is None else list_enabled(known),
        declared=() if catalog else (*declared, *await _list_remote(deps, agent)),
    )
    here, following = cut_by_name(rows, paging, lambda row: row.tool)
    approvals = ApprovalRules(
        task=() if known is None else known.approvals, agent=agent.approvals, workspace=workspace.approvals
    )
    tools = tuple(_build_row(row, approvals, declared, agent) for row in here)
    return shapes.AgentPolicy(agent_id=agent.id, task_id=task, tools=tools, next=following)


async def _list_remote(deps: ApiDependencies, agent: Agent) -> list[str]:
    """Return the names of the tools of the agent's MCP servers that somebody has accepted."""
    servers = await deps.remote_servers.list(agent.id, owner=agent.owner, workspace=agent.workspace)
    return [name for server in servers for name in fingerprint_tools(server)]


def _build_row(
    row: PolicyRow, approvals: ApprovalRules, declared: Mapping[str, DeclaredTool], agent: Agent
) -> shapes.PolicyRowResponse:
    flow = describe_signature(row.tool, declared, find_settings(agent.tool_settings, row.tool))
    has_effect = flow is None or flow.changes or flow.sends
    return shapes.PolicyRowResponse(
        tool=row.tool,
        allowed=row.is_allowed,
        taken_by=row.taken_by,
        reason=row.sentence,
        asks=find_asking(approvals, row.tool, needs_confirmation=_needs_confirmation(row.tool), has_effect=has_effect),
        flow=flow,
    )


async def _find_task(deps: ApiDependencies, caller: Caller, task: str) -> Task:
    stored = await deps.tasks.get(task) if is_id(task) else None
    if stored is None or not caller.sees(stored):
        raise NotFoundError("task")
    return stored


def _needs_confirmation(name: str) -> bool:
    tool = TOOLS.get(name)
    return tool is not None and tool.policy.needs_confirmation


def _read_template(name: str | None) -> dict[str, Any]:
    """Return the fields that an agent of this template begins with. Raise `InvalidInputError`."""
    if name is None:
        return {}
    template = TEMPLATES.get(name)
    if template is None:
        raise build_input_error("template", f"is not a known template; known are: {', '.join(TEMPLATES)}")
    return {field: getattr(template, field) for field in ("name", "description", "system_prompt", "allowed_tools")}


def _read_fields(body: shapes.AgentChange) -> dict[str, Any]:
    """Return the fields of an agent that `body` sets, as they are stored."""
    fields: dict[str, Any] = body.model_dump(exclude_unset=True)
    if "tool_settings" in fields:
        fields["tool_settings"] = {name: _read_settings(value) for name, value in fields["tool_settings"].items()}
    if "approvals" in fields:
        fields["approvals"] = build_rules(fields["approvals"])
    return fields


def _read_settings(dumped: Mapping[str, Any]) -> ToolSettings:
    flow = dumped.get("flow")
    return ToolSettings(**{**dumped, "flow": None if flow is None else FlowCorrection(**flow)})


async def _set_archived(deps: ApiDependencies, agent: Agent, *, archived: bool) -> shapes.AgentResponse:
    if agent.archived is archived:
        return shapes.AgentResponse.model_validate(agent)
    changes = {"archived": archived}
    return await _update(deps, agent, change_value(agent, changes, now=deps.clock.now()), changes)


async def _update(deps: ApiDependencies, before: Agent, after: Agent, changes: Mapping[str, Any]) -> shapes.AgentResponse:
    if not await deps.agents.update(after, tuple(changes), since=before.updated_at):
        raise NotFoundError("agent")
    return shapes.AgentResponse.model_validate(after)
