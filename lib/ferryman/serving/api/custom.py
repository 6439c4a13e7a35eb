"""Custom tools over HTTP: declared one by one, imported from an OpenAPI document, listed, and deleted one by one or by cluster.

The routes are under a task like all that belongs to it, and under the address that the tool-calling page gives them (S3-48,
S3-108, S3-109); a task is its agent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.responses import Response

from ferryman import offload
from ferryman.composition.api import ApiDependencies
from ferryman.declared import entry
from ferryman.domain.credentials.credential import AuthType
from ferryman.domain.problem import build_input_error
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.declared import CLUSTER_CHARACTERS_MAX, DeclaredTool
from ferryman.domain.tools.tool import Tool
from ferryman.domain.workspaces.effective_policy import ToolLimits
from ferryman.ports.clusters import SelectNames
from ferryman.serving.api import documents
from ferryman.serving.api.access import MANAGES, READS, CurrentCaller, Dependencies, OwnedTask, get_plan
from ferryman.serving.api.edge import IMPORT_PATH
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.idempotency import Idempotency, IdempotentRequest, IdempotentRoute
from ferryman.serving.api.large_body import take_large_body
from ferryman.serving.api.limits import IMPORTS, take_token
from ferryman.serving.api.paging import ByTool, ListedTool
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import custom as shapes
from ferryman.tools.declared import storing
from ferryman.tools.declared.importing import list_stored_names, run_document_worker

QUERY_CHARACTERS_MAX = 1_000

BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ImportBody"}}},
    }
}
"""The body, which the route reads itself, for the description."""

offload.preload(documents.read_import)


class TextConvertor(StringConvertor):
    """Any text, with slashes and line breaks: what a cluster may be called."""

    regex = "(?s:.+)"


Words = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=QUERY_CHARACTERS_MAX,
        description="What a tool is to do, or its name: only tools that fit, the best first, in one page",
    ),
]

OfCluster = Annotated[
    str | None,
    Query(max_length=CLUSTER_CHARACTERS_MAX, description="Only tools of this cluster; empty: only those in none"),
]

register_url_convertor("text", TextConvertor())
router = APIRouter(route_class=IdempotentRoute, tags=["custom tools"])


@router.get(
    "/tools",
    dependencies=[READS],
    summary="The task's custom tools, by cluster and name, or those that fit some words",
    response_model=shapes.CustomToolList,
)
async def list_custom_tools(
    task: OwnedTask, deps: Dependencies, paging: ByTool, query: Words = None, cluster: OfCluster = None
) -> Response:
    clusters = await deps.clusters.list(task.id) if paging.after is None else []
    if query is not None:
        if paging.after is not None:
            raise build_input_error("cursor", "a search has one page: give query without cursor")
        if cluster is not None:
            raise build_input_error("cluster", "a search is in all of them: give query without cluster")
        tools = await deps.clusters.tools(task.id)
        return await _json(task, documents.write_found_tools, tools, clusters, query, paging.limit)
    after = None if paging.after is None else (paging.after.cluster, paging.after.name)
    if cluster is not None:
        # names begin behind the empty one; before the first cluster there is nothing to come after
        after = after or ((cluster, "") if cluster else None)
    here, has_more = await deps.clusters.page(task.id, after=after, most=paging.limit)
    tools = [tool for tool in here if cluster in (None, tool.cluster)]
    end = locate_tool(tools[-1]) if has_more and len(tools) == len(here) else None
    return await _json(task, documents.write_tools, tools, clusters, paging.write_next(end))


@router.post("/tools", dependencies=[MANAGES], status_code=201, summary="Declare a tool, or replace its declaration")
async def declare_tool(
    body: dict[str, Any], task: OwnedTask, deps: Dependencies, once: Idempotency
) -> shapes.Envelope[shapes.CustomTool]:
    (tool,) = await read_declared_tools([body], task, deps, places=[""])
    response = shapes.Envelope(data=shapes.to_response(tool))
    await storing.add_tools(deps.clusters, task.id, [tool], await once.complete(201, response))
    return response


@router.post(
    IMPORT_PATH,
    dependencies=[MANAGES],
    summary="Import an OpenAPI or Swagger document as a cluster of tools",
    openapi_extra=BODY,
    response_model=shapes.ImportResponse,
)
async def import_openapi(
    request: Request, task: OwnedTask, deps: Dependencies, caller: CurrentCaller, once: Idempotency
) -> Response:
    take_token(deps.import_rates, task.owner, IMPORTS, now=deps.clock.now(), what="imports")
    # the body may be large: it is read once the owner is known and has a turn
    async with take_large_body(request, deps, caller) as body:
        await once.begin(request)
        return await _imported(body, task, deps, once)


async def _imported(body: bytes, task: Task, deps: ApiDependencies, once: IdempotentRequest) -> Response:
    labels = [sealed.label for sealed in await deps.credentials.list(task.id)]
    target = documents.ImportTarget(
        domains=list_domains(task, deps),
        credentials={label.name: label.hosts for label in labels},
        pairs=[label.name for label in labels if label.auth_type is AuthType.BASIC],
        existing=await list_stored_names(deps.clusters, task.id),
        neutralize=deps.neutralize,
    )
    request = await run_document_worker(task.owner, "spec", documents.read_import, body, target)
    if request.faults:
        raise RequestValidationError(request.faults)
    imported = request.imported
    if imported is None:
        assert request.body.url is not None, "without documents there is a URL"
        fetched = await deps.documents.fetch(task.id, owner=task.owner, url=request.body.url)
        imported = await run_document_worker(task.owner, "url", documents.read_fetched, fetched, request, target)
    answer = await _json(task, documents.write_import, imported, request.body.dry_run)
    if not request.body.dry_run:
        # a retry is answered without the tools, which may take megabytes; their own route lists them
        brief = partial(_json, task, documents.write_brief_import, imported)
        await storing.store_cluster(deps.clusters, task.id, imported, await once.complete(200, answer, brief=brief))
    return answer


@router.delete("/tools", dependencies=[MANAGES], summary="Delete one tool")
async def delete_tool(
    task: OwnedTask, deps: Dependencies, tool: Annotated[str, Query(alias="id", description="The tool's id, which is its name")]
) -> shapes.Envelope[shapes.Deleted]:
    if not await storing.remove_tool(deps.clusters, task.id, tool):
        raise NotFoundError("tool")
    return shapes.Envelope(data=shapes.Deleted(deleted=tool))


@router.delete("/tools/cluster/{name:text}", dependencies=[MANAGES], summary="Delete a cluster with all its tools at once")
async def delete_cluster(name: str, task: OwnedTask, deps: Dependencies) -> shapes.Envelope[shapes.Deleted]:
    if not await deps.clusters.delete(task.id, name):
        raise NotFoundError("cluster")
    return shapes.Envelope(data=shapes.Deleted(deleted=name))


@router.get(
    "/chat/tools",
    dependencies=[READS],
    summary="Every tool of the task's conversations, as the model is shown it",
    response_model=shapes.ChatTools,
)
async def list_chat_tools(task: OwnedTask, deps: Dependencies, caller: CurrentCaller, paging: ByTool) -> Response:
    select = await _read_selection(deps, caller, task)
    names = select([tool.name for tool in deps.tools if tool.name in task.tools])
    enabled = sorted((tool for tool in deps.tools if tool.name in names), key=locate_tool)
    built_in = [tool for tool in enabled if paging.after is None or locate_tool(tool) > paging.after]
    after = (paging.after.cluster, paging.after.name) if paging.after is not None and paging.after.is_custom else None
    most = max(0, paging.limit - len(built_in))
    tools, has_more = await deps.clusters.page(task.id, after=after, most=most, enabled=True, select=select)
    here: list[Tool | DeclaredTool] = [*built_in[: paging.limit], *tools]
    end = locate_tool(here[-1]) if has_more or len(built_in) > paging.limit else None
    return await _json(task, documents.write_chat_tools, here, paging.write_next(end))


async def _read_selection(deps: ApiDependencies, caller: Caller, task: Task) -> SelectNames:
    """Return what selects from names those that conversations with the task's agent have. Raise `NotFoundError`."""
    agent = await deps.agents.get(task.agent, owner=caller.owner.id, workspace=caller.workspace)
    workspace = await deps.workspaces.get(caller.workspace, owner=caller.owner.id)
    if agent is None or workspace is None:
        raise NotFoundError("agent")
    limits = ToolLimits(agent=agent.allowed_tools, workspace=workspace.allowed_tools, plan=get_plan(deps, caller.owner).tools)
    return lambda names: agent.select_enabled(limits.select(names))


def locate_tool(tool: Tool | DeclaredTool) -> ListedTool:
    """Return where `tool` is in a list: the built-in ones come first."""
    return ListedTool(True, tool.cluster, tool.name) if isinstance(tool, DeclaredTool) else ListedTool(False, "", tool.name)


def list_domains(task: Task, deps: ApiDependencies) -> tuple[str, ...]:
    """Return the host patterns that the task's integrations approve."""
    approved = (deps.integrations[integration] for integration in task.integrations if integration in deps.integrations)
    return tuple(domain for integration in approved for domain in integration.allowed_domains)


async def read_declared_tools(
    entries: Sequence[Mapping[str, Any]], task: Task, deps: ApiDependencies, *, places: Sequence[str]
) -> list[DeclaredTool]:
    """Return the tools that `entries` declare for `task`. Raise `InvalidInputError`, also beyond the parser's CPU budget."""
    if not entries:
        return []
    domains = list_domains(task, deps)
    return await run_document_worker(task.owner, "tools", entry.read_all, entries, places, domains=domains)


async def _json(task: Task, function: Callable[..., bytes], *arguments: Any) -> Response:
    """Return the JSON that `function` writes: some thousand tools are some megabytes of it."""
    return Response(await run_document_worker(task.owner, "tools", function, *arguments), media_type="application/json")
