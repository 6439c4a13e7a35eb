"""Custom tools over HTTP: declared one by one, imported from an OpenAPI document, listed, and deleted one by one or by cluster.

The routes stand under a task as everything of it does, and under the address that the tool-calling page gives them (S3-48,
S3-108); a task is its agent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from ferryman import openapi
from ferryman.declared import entry, texts
from ferryman.declared.check import hosts
from ferryman.domain.declared import Declared
from ferryman.domain.problem import Invalid, Problem, invalid
from ferryman.domain.task import Task
from ferryman.ports import Unavailable
from ferryman.serving.api.asking import TheHouse, TheirTask
from ferryman.serving.api.edge import LARGE
from ferryman.serving.api.faults import not_found
from ferryman.serving.api.shapes import custom as shapes
from ferryman.tools.custom import storing
from ferryman.tools.custom.importing import Wanted, imported
from ferryman.wiring.api import House

INLINE = "https://inline.invalid/"
"""Where a document that was sent along stands, for what refers to it; nobody is ever asked there."""

TURN_S = 20
BODY_S = 60

BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Import"}}},
    }
}
"""What the route reads by itself, for the description."""

router = APIRouter(tags=["custom tools"])


@router.get("/tools", summary="The task's custom tools, by cluster and name")
async def listed(task: TheirTask, house: TheHouse) -> shapes.Envelope[tuple[shapes.CustomTool, ...]]:
    return shapes.Envelope(data=_records(await house.clusters.tools(task.id)))


@router.post("/tools", status_code=201, summary="Declare a tool, or declare it anew")
async def declare(asked: dict[str, Any], task: TheirTask, house: TheHouse) -> shapes.Envelope[shapes.CustomTool]:
    (tool,) = read([asked], task, house, places=[""])
    await storing.added(house.clusters, task.id, [tool])
    return shapes.Envelope(data=shapes.shown(tool))


@router.post(LARGE, summary="Import an OpenAPI or Swagger document as a cluster of tools", openapi_extra=BODY)
async def import_openapi(request: Request, task: TheirTask, house: TheHouse) -> shapes.Imported:
    # the body is read after it is known who asks, and when it is its turn: it may be large
    async with _turn(house.imports):
        return await _imported(request, task, house)


async def _imported(request: Request, task: Task, house: House) -> shapes.Imported:
    asked = await _asked(request)
    root, documents = await _documents(asked, task, house)
    wanted = Wanted(
        documents=documents,
        root=root,
        cluster=asked.cluster,
        domains=domains(task, house),
        credentials={each.label.name: each.label.hosts for each in await house.credentials.list(task.id)},
        server=asked.server,
    )
    found = await imported(house.clusters, task.id, wanted, tame=house.tame)
    if not asked.dry_run:
        await storing.stored(house.clusters, task.id, found)
    return shapes.Imported(
        data=_records(found.tools),
        cluster=found.cluster,
        imported=len(found.tools),
        disabled=sum(not each.enabled for each in found.tools),
        tokens=openapi.tokens(found.tools),
        notes=found.notes,
        dry_run=asked.dry_run,
    )


@router.delete("/tools", summary="Delete one tool")
async def delete(
    task: TheirTask, house: TheHouse, tool: Annotated[str, Query(alias="id", description="The tool's id, which is its name")]
) -> shapes.Envelope[shapes.Gone]:
    if not await storing.removed(house.clusters, task.id, tool):
        raise not_found("tool")
    return shapes.Envelope(data=shapes.Gone(deleted=tool))


@router.delete("/tools/cluster/{name:path}", summary="Delete a cluster with all its tools at once")
async def delete_cluster(name: str, task: TheirTask, house: TheHouse) -> shapes.Envelope[shapes.Gone]:
    if not await house.clusters.delete(task.id, name):
        raise not_found("cluster")
    return shapes.Envelope(data=shapes.Gone(deleted=name))


@router.get("/chat/tools", summary="Every tool as the task's model is shown it")
async def chat_tools(task: TheirTask, house: TheHouse) -> shapes.ChatTools:
    built_in = [each for each in house.tools if each.name in task.tools]
    declared = [each for each in await house.clusters.tools(task.id) if each.enabled]
    named = [(each.name, each.description, dict(each.schema)) for each in built_in]
    named += [(each.name, each.description or each.summary, each.schema) for each in declared]
    tools = (shapes.ChatTool(name=name, description=text, parameters=schema) for name, text, schema in named)
    return shapes.ChatTools(tools=tuple(tools))


def domains(task: Task, house: House) -> tuple[str, ...]:
    """The host patterns that the task's integrations approve."""
    approved = (house.integrations[each] for each in task.integrations if each in house.integrations)
    return tuple(domain for each in approved for domain in each.allowed_domains)


def read(entries: Sequence[Mapping[str, Any]], task: Task, house: House, *, places: Sequence[str]) -> list[Declared]:
    """The tools that `entries`, each at its place, declare for `task`; raises `Invalid` with every fault, hosts included."""
    found: list[Problem] = []
    tools: list[Declared] = []
    for each, place in zip(entries, places, strict=True):
        try:
            tool = entry.read(each, where=place)
        except Invalid as error:
            found += error.problems
            continue
        found += hosts(tool, where=place, domains=domains(task, house))
        if tool.name in {each.name for each in tools}:
            found.append(Problem(field=f"{place}.name".lstrip("."), message="is declared twice"))
        tools.append(tool)
    if found:
        raise Invalid(found)
    return tools


@asynccontextmanager
async def _turn(turns: asyncio.Semaphore) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(TURN_S):
            await turns.acquire()
    except TimeoutError:
        raise Unavailable("too many documents are imported just now") from None
    try:
        yield
    finally:
        turns.release()


async def _asked(request: Request) -> shapes.Import:
    try:
        async with asyncio.timeout(BODY_S):
            body = await request.body()
    except TimeoutError:
        raise HTTPException(408, f"the body did not come within {BODY_S} seconds") from None

    def read() -> shapes.Import:
        # by ours, since the model's own reader takes 600 bytes for the smallest object
        return shapes.Import.model_validate(texts.loads_json(body, what="body"))

    try:
        return await asyncio.to_thread(read)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_input=False)) from None


async def _documents(asked: shapes.Import, task: Task, house: House) -> tuple[str, Mapping[str, Any]]:
    if (asked.url is None) == (asked.spec is None):
        raise invalid("url", "give either url or spec")
    if asked.url is not None:
        if asked.documents:
            raise invalid("documents", "is for a spec that is sent along")
        found = await house.documents.fetched(task.id, owner=task.owner, url=asked.url)
        return asked.url, {name: await _parsed(text, "url") for name, text in found.items()}
    root = f"{INLINE}spec"
    spec = await _parsed(asked.spec, "spec") if isinstance(asked.spec, str) else asked.spec
    others = {f"{INLINE}{name}": await _parsed(text, "documents") for name, text in asked.documents.items()}
    return root, {**others, root: spec}


async def _parsed(text: str, what: str) -> Any:
    return await asyncio.to_thread(texts.loads, text, what=what)


def _records(tools: Any) -> tuple[shapes.CustomTool, ...]:
    return tuple(shapes.shown(each) for each in sorted(tools, key=lambda each: (each.cluster, each.name)))
