"""One execution: its turns and calls in order, a timeline to scale, and its actions: cancel, run again, export."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from ferryman.serving.console import execution_live
from ferryman.serving.console.api_client import ApiProblemError, ask_together
from ferryman.serving.console.execution_view import find_event, read_call, read_window
from ferryman.serving.console.form_fields import parse_json
from ferryman.serving.console.pages import executions
from ferryman.serving.console.receipt_checks import check_receipts
from ferryman.serving.console.routing import ConsolePage, ConsoleRequest, ConsoleRoute, Redirect
from ferryman.serving.console.timeline import draw_timeline, measure_seconds

PATH = f"{executions.PATH}/{{execution}}"
CALLS = 50
"""How many calls a page lists."""

LIVE_CALLS = 500
"""How many calls a page has at most, with those that are made while it is open."""


async def show_execution(request: ConsoleRequest) -> ConsolePage:
    """Show an execution with its turns and calls; large texts have pages of their own."""
    name, first = request.params["execution"], _read_number(request.query.get("from"))
    here = f"{executions.PATH}/{name}"
    execution, window = await ask_together(
        request.api.get(f"/v1/executions/{name}"),
        read_window(request.api, name, first=first, end=first + CALLS),
    )
    live = ""
    if not execution["completed_at"]:
        end = first + (LIVE_CALLS if window.next is None else CALLS)
        after = await find_event(request.api, execution, window)
        live = f"{here}/live?{urlencode({'from': first, 'end': end, 'after': after})}"
    values = {
        "execution": execution,
        "window": window,
        "live": live,
        "task_name": await find_task_name(request, execution["task_id"]),
        "seconds": measure_seconds(execution["started_at"], execution["completed_at"]),
        "timeline": draw_timeline(window.calls, end=execution["completed_at"] or request.now.isoformat()),
        "here": here,
        "page_calls": CALLS,
    }
    return ConsolePage(template="execution.html", title=f"Execution {name}", values=values)


async def follow_execution(request: ConsoleRequest) -> Response:
    """Stream the parts of the page that the execution's events change: of the calls from `from` up to `end`."""
    first = _read_number(request.query.get("from"))
    end = min(_read_number(request.query.get("end")) or first + CALLS, first + LIVE_CALLS)
    here = f"{executions.PATH}/{request.params['execution']}"
    execution = await request.api.get(f"/v1/executions/{request.params['execution']}")
    values = {"here": here, "page_calls": CALLS, "task_name": await find_task_name(request, execution["task_id"])}
    return await execution_live.follow(request, here=here, first=first, end=end, values=values)


async def show_call(request: ConsoleRequest) -> ConsolePage:
    """Show one call of an execution in full, with its receipts."""
    name = request.params["execution"]
    call, receipts, keys = await read_call(request.api, name, request.params["seq"])
    values = {
        "call": call,
        "execution_id": name,
        "receipts": check_receipts(receipts, keys, call),
        "here": f"{executions.PATH}/{name}",
    }
    return ConsolePage(template="call.html", title=f"Call {call['seq'] + 1}", values=values)


async def show_turn(request: ConsoleRequest) -> ConsolePage:
    """Show what the model wrote in one turn."""
    name, number = request.params["execution"], request.params["turn"]
    page = await request.api.get(f"/v1/executions/{name}/turns", **{"from": number}, limit=1)
    if not page["turns"] or str(page["turns"][0]["number"]) != number:
        raise ApiProblemError(404, {"title": "Not Found", "detail": "there is no such turn"})
    values = {"turn": page["turns"][0], "execution_id": name, "here": f"{executions.PATH}/{name}"}
    return ConsolePage(template="turn.html", title=f"Turn {number}", values=values)


async def show_input(request: ConsoleRequest) -> ConsolePage:
    """Show the whole input of an execution."""
    return await _show_text(request, "input", "Input")


async def show_output(request: ConsoleRequest) -> ConsolePage:
    """Show the whole output of an execution."""
    return await _show_text(request, "output", "Output")


async def _show_text(request: ConsoleRequest, field: str, title: str) -> ConsolePage:
    name = request.params["execution"]
    execution = await request.api.get(f"/v1/executions/{name}")
    values = {"text": execution[field], "execution_id": name, "here": f"{executions.PATH}/{name}"}
    return ConsolePage(template="execution_text.html", title=title, values=values)


async def cancel(request: ConsoleRequest) -> Redirect:
    """Cancel the execution: nothing more is sent."""
    await request.api.post(f"/v1/executions/{request.params['execution']}/cancel")
    return Redirect(path=request.path, done="cancelled")


async def run_again(request: ConsoleRequest) -> Redirect:
    """Start another execution of the same task, with the same input and labels; one that made a call makes it again."""
    before = await request.api.get(f"/v1/executions/{request.params['execution']}")
    path, body = f"/v1/tasks/{before['task_id']}/executions", {"input": before["input"], "labels": before["labels"]}
    if tool := before.get("called_tool"):
        path = f"/v1/tasks/{before['task_id']}/calls"
        body = {"tool": tool, "arguments": parse_json("input", before["input"] or "{}")}
    started = await request.api.post(path, body, once=request.read_field("once"))
    return Redirect(path=f"{executions.PATH}/{started['execution_id']}", done="started")


async def export(request: ConsoleRequest) -> Response:
    """Download the record of the execution as JSON."""
    name = request.params["execution"]
    answer = await request.api.ask("GET", f"/v1/executions/{name}/record")
    headers = {"Content-Disposition": f'attachment; filename="{name}.json"', "Cache-Control": "no-store"}
    return Response(answer.content, media_type="application/json", headers=headers)


async def find_task_name(request: ConsoleRequest, task: str) -> str:
    """Return the name of a task, its id where it was deleted."""
    try:
        return str((await request.api.get(f"/v1/tasks/{task}"))["name"])
    except ApiProblemError:
        return task


def _read_number(text: str | None) -> int:
    """Return a number of an address. Raise `ApiProblemError` (422) for anything else."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 6):
        detail = "from and end: must be numbers of calls, at most 999999"
        raise ApiProblemError(422, {"title": "Unprocessable Content", "detail": detail})
    return int(text)


ACTIONS: Mapping[str, Any] = {"cancel": cancel, "again": run_again, "export": export}
ROUTES = (
    ConsoleRoute(path=PATH, show=show_execution, section="executions", actions=ACTIONS),
    ConsoleRoute(path=f"{PATH}/live", show=follow_execution, section="executions"),
    ConsoleRoute(path=f"{PATH}/input", show=show_input, section="executions"),
    ConsoleRoute(path=f"{PATH}/output", show=show_output, section="executions"),
    ConsoleRoute(path=f"{PATH}/calls/{{seq}}", show=show_call, section="executions"),
    ConsoleRoute(path=f"{PATH}/turns/{{turn}}", show=show_turn, section="executions"),
)
