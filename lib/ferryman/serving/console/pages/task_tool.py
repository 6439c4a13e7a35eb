"""One tool of a task: its declaration, a call to try it, and the result of that call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ferryman.domain.approvals.visible import show_text
from ferryman.serving.console.api_client import ApiProblemError, ask_together
from ferryman.serving.console.argument_fields import build_argument_fields, read_arguments, write_arguments
from ferryman.serving.console.form_fields import list_problems, repeat_values, require_consent
from ferryman.serving.console.pages import task_tools, tasks
from ferryman.serving.console.routing import ConsolePage, ConsoleRequest, ConsoleRoute, Redirect

PATH = f"{task_tools.PATH}/{{tool:path}}"
TRY_PATH = f"{tasks.PATH}/{{task}}/tries/{{execution}}"
FOUND_MAX = 20
REFRESH_S = 2
ENDED = ("completed", "failed", "timeout", "killed")


async def show_tool(request: ConsoleRequest) -> ConsolePage:
    """Show a tool of the task, with a form of its arguments."""
    return await _show(request, request.params["tool"])


async def try_tool(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Make one call of the tool, as an execution of its own that asks no model."""
    name, path = request.read_field("tool"), f"/v1/tasks/{request.params['task']}"
    tool = await _find_tool(request, name)
    fields = build_argument_fields(tool["parameters"])
    try:
        body = {"tool": name, "arguments": read_arguments(tool["parameters"], request.form)}
        started = await request.api.post(f"{path}/calls", body, once=request.read_field("once"))
    except ApiProblemError as error:
        return await _show(request, name, error, values=repeat_values(fields, request.form))
    return Redirect(path=f"{tasks.PATH}/{request.params['task']}/tries/{started['execution_id']}")


async def show_try(request: ConsoleRequest) -> ConsolePage:
    """Show the call that an execution makes: its request, its result, or in words why it was refused."""
    name = request.params["execution"]
    execution, listed = await ask_together(
        request.api.get(f"/v1/executions/{name}"), request.api.get(f"/v1/executions/{name}/calls", limit=1)
    )
    tool = execution.get("called_tool")
    if execution["task_id"] != request.params["task"] or tool is None:
        raise ApiProblemError(
            404, {"title": "There is no such call", "detail": "This execution is not a call of this task's tool."}
        )
    is_over = execution["status"] in ENDED
    tried = {
        "execution": execution,
        "call": next(iter(listed["calls"]), None),
        "is_over": is_over,
        **({} if is_over else {"refresh_s": REFRESH_S}),
    }
    return await _show(request, tool, arguments=_read_object(execution["input"]), tried=tried)


async def delete_tool(request: ConsoleRequest) -> Redirect:
    """Delete a tool that was declared or imported, where the box of the form was ticked."""
    require_consent(request.form)
    task = request.params["task"]
    await request.api.delete(f"/v1/tasks/{task}/tools", id=request.params["tool"])
    return Redirect(path=f"{tasks.PATH}/{task}/tools", done="deleted")


async def _show(
    request: ConsoleRequest,
    name: str,
    refused: ApiProblemError | None = None,
    *,
    values: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
    tried: Mapping[str, Any] | None = None,
) -> ConsolePage:
    if refused is not None and refused.status in (401, 404):
        raise refused
    task, tool = await ask_together(request.api.get(f"/v1/tasks/{request.params['task']}"), _find_tool(request, name))
    here = f"{tasks.PATH}/{task['task_id']}/tools"
    return ConsolePage(
        template="task_tool.html",
        title=show_text(name),
        values={
            "task": task,
            "tool": tool,
            "tools_page": here,
            "here": request.path if tried else f"{here}/{name}",
            "fields": build_argument_fields(tool["parameters"]),
            "values": values or write_arguments(tool["parameters"], arguments),
            "errors": list_problems(refused),
            "tried": None if tried is None else {"execution": tried["execution"], "call": tried["call"]},
            "is_over": tried is None or tried["is_over"],
            **({"refresh_s": tried["refresh_s"]} if tried and "refresh_s" in tried else {}),
        },
        status=200 if refused is None else refused.status,
    )


async def _find_tool(request: ConsoleRequest, name: str) -> dict[str, Any]:
    """Return a tool of the task by its name: declared or imported, of the catalog, or of an MCP server of the task's agent,
    whose schema is not known here. Raise `ApiProblemError` with 404."""
    path = f"/v1/tasks/{request.params['task']}/tools"
    candidates = (await request.api.get(path, query=name, limit=FOUND_MAX))["data"] if name.strip() else []
    for tool in candidates:
        if tool["name"] == name:
            return {**tool, "kind": "own", "title": ""}
    catalog = (await request.api.get("/v1/tools", limit=100))["tools"]
    for tool in catalog:
        if tool["name"] == name and tool["implemented"]:
            about = {"name": name, "title": tool["display_name"], "description": tool["description"], "summary": ""}
            return {**about, "kind": "built in", "parameters": tool["input_schema"], "isEnabled": True, "reason": None}
    if "__" in name:
        about = {"name": name, "title": "", "description": "A tool of an MCP server.", "summary": ""}
        return {**about, "kind": "MCP", "parameters": None, "isEnabled": True, "reason": None}
    raise ApiProblemError(404, {"title": "There is no such tool", "detail": "The task has no tool of this name."})


def _read_object(text: str | None) -> Mapping[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


ROUTES = (
    ConsoleRoute(path=PATH, show=show_tool, section="tasks", actions={"try": try_tool, "delete": delete_tool}),
    ConsoleRoute(path=TRY_PATH, show=show_try, section="tasks", actions={"try": try_tool}),
)
