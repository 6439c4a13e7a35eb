"""A task's own tools: by cluster, declared from a form or from JSON, and deleted, one by one or a cluster at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.serving.console.api_client import ApiProblemError, ask_together
from ferryman.serving.console.form_fields import (
    FormField,
    list_problems,
    parse_json,
    read_body,
    repeat_values,
    require_consent,
    write_values,
)
from ferryman.serving.console.pages import tasks
from ferryman.serving.console.routing import ConsolePage, ConsoleRequest, ConsoleRoute, Redirect

PATH = f"{tasks.PATH}/{{task}}/tools"
TOOLS = 100
"""How many tools a page lists."""

METHODS = tuple((name, name) for name in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"))
BODY_TYPES = tuple((name, name) for name in ("json", "form", "multipart", "query"))
FIRST = (
    FormField(name="name", label="Name", help="The model calls the tool by it: letters, digits, _ and -", is_required=True),
    FormField(name="method", label="Method", kind="choice", options=METHODS),
    FormField(
        name="url",
        label="URL",
        help="https; arguments as {name} in the path, optional ones as ?key={name?}",
        is_required=True,
    ),
    FormField(name="description", label="Description", kind="long", help="What the model reads"),
)
MORE = (
    FormField(
        name="parameters",
        label="Parameters",
        kind="json",
        help='JSON Schema of the arguments, by name: {"city": {"description": "…", "required": false}}',
        when_empty="omit",
    ),
    FormField(
        name="query", label="Query", kind="json", help='By the name that is sent: {"units": "{{units}}"}', when_empty="omit"
    ),
    FormField(
        name="headers", label="Headers", kind="json", help='{"X-Api-Key": "{{secrets.WEATHER_API_KEY}}"}', when_empty="omit"
    ),
    FormField(name="body_type", label="Body type", kind="choice", options=BODY_TYPES),
    FormField(name="body", label="Body", kind="json", help='{"text": "{{text}}"}', when_empty="omit"),
)


FIELDS = (*FIRST, *MORE)


async def show_task_tools(request: ConsoleRequest) -> ConsolePage:
    """Show the tools by cluster: the first ones of all clusters, or those of the one that was chosen."""
    return await _show(request)


async def declare_tool(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Declare the tool that was typed."""
    try:
        body = {"kind": "http", **read_body(FIELDS, request.form)}
        return await _declare(request, body)
    except ApiProblemError as error:
        return await _show(request, error, values=repeat_values(FIELDS, request.form))


async def declare_from_json(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Declare the tool of a JSON object that was typed."""
    try:
        return await _declare(request, parse_json("json", request.read_field("json")))
    except ApiProblemError as error:
        return await _show(request, error, typed_json=request.read_field("json"))


async def delete_cluster(request: ConsoleRequest) -> Redirect:
    """Delete a cluster with all its tools, where the box of the form was ticked."""
    require_consent(request.form)
    await request.api.delete(f"/v1/tasks/{request.params['task']}/tools/cluster/{request.read_field('cluster')}")
    return Redirect(path=request.path, done="deleted")


async def _declare(request: ConsoleRequest, body: Any) -> Redirect:
    task = request.params["task"]
    declared = await request.api.post(f"/v1/tasks/{task}/tools", body, once=request.read_field("once"))
    return Redirect(path=f"{tasks.PATH}/{task}/tools/{declared['data']['name']}", done="declared")


async def _show(
    request: ConsoleRequest,
    refused: ApiProblemError | None = None,
    *,
    values: Mapping[str, str] | None = None,
    typed_json: str = "",
) -> ConsolePage:
    if refused is not None and refused.status in (401, 404):
        raise refused
    path, chosen = f"/v1/tasks/{request.params['task']}", request.query.get("cluster")
    cursor = request.query.get("cursor")
    task, listed = await ask_together(
        request.api.get(path), request.api.get(f"{path}/tools", limit=TOOLS, cursor=cursor, cluster=chosen)
    )
    # a first page has the clusters
    overview = await request.api.get(f"{path}/tools", limit=1) if cursor else listed
    known = [cluster for cluster in overview["clusters"] if cluster["tools"]]
    return ConsolePage(
        template="task_tools.html",
        title="Own tools",
        values={
            "task": task,
            "here": f"{tasks.PATH}/{task['task_id']}/tools",
            "groups": _group(known, listed["data"], chosen),
            # those in no cluster come first in the list of all, of which their page is the beginning
            "next": listed["next"] if all(tool["cluster"] == (chosen or "") for tool in listed["data"][-1:]) else None,
            "chosen": chosen,
            "fields": FIRST,
            "more": MORE,
            "is_more_open": any((values or {}).get(field.name) for field in MORE if field.kind == "json"),
            "values": values or write_values(FIELDS, {"method": "GET", "body_type": "json"}),
            "typed_json": typed_json,
            "errors": list_problems(refused),
        },
        status=200 if refused is None else refused.status,
    )


def _group(
    clusters: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], chosen: str | None
) -> list[dict[str, Any]]:
    """Return the clusters with those of their tools that are on the page; those in no cluster come last (S3-54)."""
    groups = []
    for cluster in sorted(clusters, key=lambda cluster: cluster["name"] == ""):
        here = [tool for tool in tools if tool["cluster"] == cluster["name"]]
        is_chosen = chosen == cluster["name"]
        if chosen is None or is_chosen:
            is_open = is_chosen or (bool(here) and len(tools) <= OPEN_MAX)
            groups.append({"cluster": cluster, "tools": here, "is_chosen": is_chosen, "is_open": is_open})
    return groups


OPEN_MAX = 30
"""Up to so many tools are shown at once; of more, a cluster is opened by a click."""

ROUTES = (
    ConsoleRoute(
        path=PATH,
        show=show_task_tools,
        section="tasks",
        actions={"declare": declare_tool, "declare-json": declare_from_json, "delete-cluster": delete_cluster},
    ),
)
