"""One execution: its turns and calls in order, a time line to scale, and what can be done with it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from ferryman.serving.console.api_client import ApiProblemError
from ferryman.serving.console.live import RelayedEvent, relay_events
from ferryman.serving.console.pages import executions
from ferryman.serving.console.parts import find_parts
from ferryman.serving.console.rendering import render_page
from ferryman.serving.console.routing import ConsolePage, ConsoleRequest, ConsoleRoute, Redirect
from ferryman.serving.console.timeline import draw_timeline

PATH = f"{executions.PATH}/{{execution}}"
LIVE_PARTS = ("summary", "timeline", "calls")
CALLS = 100
"""How many calls a page lists."""


async def show_execution(request: ConsoleRequest) -> ConsolePage:
    """Show an execution, with its calls and without their results, which are pages of their own."""
    name = request.params["execution"]
    execution, listed = await asyncio.gather(
        request.api.get(f"/v1/executions/{name}"),
        request.api.get(f"/v1/executions/{name}/calls", limit=CALLS, cursor=request.query.get("cursor")),
    )
    values = {
        "execution": execution,
        "listed": listed,
        "task_name": await _find_task_name(request, execution["task_id"]),
        "seconds": executions.measure_seconds(execution["started_at"], execution["completed_at"]),
        "timeline": draw_timeline(listed["calls"], end=execution["completed_at"] or request.now.isoformat()),
        "here": f"{executions.PATH}/{name}",
    }
    return ConsolePage(template="execution.html", title=f"Execution {name}", values=values)


async def follow_execution(request: ConsoleRequest) -> Response:
    """Stream the parts of the page that the execution's events change."""

    async def render(_: Sequence[RelayedEvent]) -> Mapping[str, Any]:
        page = await show_execution(replace(request, path=f"{executions.PATH}/{request.params['execution']}"))
        markup = render_page(page, replace(request, path=request.path.removesuffix("/live")))
        return {"parts": find_parts(markup, LIVE_PARTS)}

    return await relay_events(request, f"/v1/executions/{request.params['execution']}/events", render)


async def show_call(request: ConsoleRequest) -> ConsolePage:
    """Show one call of an execution in full."""
    name, seq = request.params["execution"], request.params["seq"]
    call = await request.api.get(f"/v1/executions/{name}/calls/{seq}")
    return ConsolePage(template="call.html", title=f"Call {call['seq'] + 1}", values={"call": call, "execution_id": name})


async def cancel(request: ConsoleRequest) -> Redirect:
    """Cancel the execution: nothing more is sent."""
    await request.api.post(f"/v1/executions/{request.params['execution']}/cancel")
    return Redirect(path=request.path, done="cancelled")


async def run_again(request: ConsoleRequest) -> Redirect:
    """Start another execution of the same task, with the same input and labels."""
    before = await request.api.get(f"/v1/executions/{request.params['execution']}")
    body = {"input": before["input"], "labels": before["labels"]}
    started = await request.api.post(f"/v1/tasks/{before['task_id']}/executions", body, once=request.read_field("once"))
    return Redirect(path=f"{executions.PATH}/{started['execution_id']}", done="started")


async def export(request: ConsoleRequest) -> Response:
    """Download the record of the execution as JSON."""
    name = request.params["execution"]
    answer = await request.api.ask("GET", f"/v1/executions/{name}/record")
    headers = {"Content-Disposition": f'attachment; filename="{name}.json"', "Cache-Control": "no-store"}
    return Response(answer.content, media_type="application/json", headers=headers)


async def _find_task_name(request: ConsoleRequest, task: str) -> str:
    try:
        return str((await request.api.get(f"/v1/tasks/{task}"))["name"])
    except ApiProblemError:
        return task  # it was deleted


ROUTES = (
    ConsoleRoute(
        path=PATH, show=show_execution, section="executions", actions={"cancel": cancel, "again": run_again, "export": export}
    ),
    ConsoleRoute(path=f"{PATH}/live", show=follow_execution, section="executions"),
    ConsoleRoute(path=f"{PATH}/calls/{{seq}}", show=show_call, section="executions"),
)
