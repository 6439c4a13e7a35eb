"""Import an OpenAPI document into a task: a dry run that shows the tools, and the import itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ferryman.serving.console.api_client import ApiProblemError
from ferryman.serving.console.form_fields import FormField, read_body, repeat_values, write_values
from ferryman.serving.console.pages import tasks
from ferryman.serving.console.routing import ConsolePage, ConsoleRequest, ConsoleRoute, Redirect

PATH = f"{tasks.PATH}/{{task}}/import"

LISTED_MAX = 200
"""How many tools and notes a dry run lists; a document may have two thousand."""

TOO_OFTEN, AGAIN_S = 429, 6
"""The status of an import that came too soon after others, and after how many seconds a page that follows typing asks again."""

SOURCE = (
    FormField(name="url", label="URL of the document", help="https; fetched through the gate", when_empty="omit"),
    FormField(
        name="spec",
        label="Document",
        kind="long",
        help="In place of a URL: OpenAPI 3 or Swagger 2, JSON or YAML",
        when_empty="omit",
    ),
)
CLUSTER = (
    FormField(
        name="cluster", label="Cluster", help="The name that groups the tools. Empty: the document's title", when_empty="omit"
    ),
)
MORE = (
    FormField(name="server", label="Server", help="A URL that replaces the servers of the document", when_empty="omit"),
    FormField(
        name="only",
        label="Only these operations",
        kind="lines",
        help="One per line: an operation id such as getPet*, or a path such as /pets/*",
        when_empty="omit",
    ),
    FormField(
        name="tags",
        label="Only these tags",
        kind="lines",
        help="One per line: operations with at least one of them",
        when_empty="omit",
    ),
)
FIELDS = (*SOURCE, *CLUSTER, *MORE)


async def show_import(request: ConsoleRequest) -> ConsolePage:
    """Show the form."""
    return await _show(request)


async def show_dry_run(request: ConsoleRequest) -> ConsolePage:
    """Show the tools that the typed document would become; store nothing."""
    try:
        return await _show(request, result=await _import(request, is_dry_run=True))
    except ApiProblemError as error:
        return await _show(request, error)


async def import_document(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Import the typed document, and lead to its tools."""
    try:
        imported = await _import(request, is_dry_run=False)
    except ApiProblemError as error:
        return await _show(request, error)
    page = f"{tasks.PATH}/{request.params['task']}/tools?cluster={quote(imported['cluster'], safe='')}"
    return Redirect(path=page, done="imported")


async def _import(request: ConsoleRequest, *, is_dry_run: bool) -> Mapping[str, Any]:
    body = {**read_body(FIELDS, request.form), "dry_run": is_dry_run}
    once = "" if is_dry_run else request.read_field("once")
    path = f"/v1/tasks/{request.params['task']}/tools/import-openapi"
    answer: Mapping[str, Any] = await request.api.post(path, body, once=once)
    return answer


async def _show(
    request: ConsoleRequest, refused: ApiProblemError | None = None, *, result: Mapping[str, Any] | None = None
) -> ConsolePage:
    if refused is not None and refused.status in (401, 403, 404):
        raise refused
    task = await request.api.get(f"/v1/tasks/{request.params['task']}")
    # a part of the page comes without what was typed, which may be a megabyte
    values = write_values(FIELDS, {}) if request.is_partial or not request.form else repeat_values(FIELDS, request.form)
    return ConsolePage(
        template="task_import.html",
        title="Import OpenAPI",
        values={
            "task": task,
            "here": f"{tasks.PATH}/{task['task_id']}/import",
            "source": SOURCE,
            "cluster_fields": CLUSTER,
            "more": MORE,
            "values": values,
            "is_more_open": any(values[field.name] for field in MORE),
            "result": None if result is None else _arrange(result),
            "problems_found": _list_problems(refused),
            "errors": {} if refused is None else {error["field"]: error["message"] for error in refused.errors},
            "again_s": AGAIN_S if refused is not None and refused.status == TOO_OFTEN else None,
        },
        status=200 if refused is None else refused.status,
    )


def _arrange(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of an import with the tools that can be called apart from the disabled ones, as many as are listed."""
    enabled = [tool for tool in result["data"] if tool["isEnabled"]]
    disabled = [tool for tool in result["data"] if not tool["isEnabled"]]
    return {
        **{name: result[name] for name in ("cluster", "imported", "disabled", "tokens")},
        "enabled_tools": enabled[:LISTED_MAX],
        "disabled_tools": disabled[:LISTED_MAX],
        "enabled_count": len(enabled),
        "notes": result["notes"][:LISTED_MAX],
        "notes_count": len(result["notes"]),
    }


def _list_problems(refused: ApiProblemError | None) -> Sequence[tuple[str, str]]:
    """Return the problems of a document, each with its place."""
    if refused is None:
        return ()
    return [(error["field"], error["message"]) for error in refused.errors[:LISTED_MAX]] or [(refused.title, refused.detail)]


ROUTES = (
    ConsoleRoute(path=PATH, show=show_import, section="tasks", actions={"dry-run": show_dry_run, "import": import_document}),
)
