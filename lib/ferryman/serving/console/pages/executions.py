"""The list of executions: filtered by state, task, agent and day, newest first."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlencode

from ferryman.domain.approvals.visible import show_text
from ferryman.domain.executions.execution import Status
from ferryman.domain.ids import is_id
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, Redirect

PATH = f"{ROOT}/executions"
FILTERS = ("status", "task", "agent", "since", "waiting")
PAGE = 50
REFRESH_S = 5


async def show_executions(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Show the executions of the workspace that the filters of the address name; an id leads to that one."""
    if (name := request.query.get("id", "").strip()) and is_id(name):
        return Redirect(path=f"{PATH}/{name}")
    chosen = {field: request.query.get(field, "").strip() for field in FILTERS}
    listed, tasks, agents = await asyncio.gather(
        request.api.get("/v1/executions", **_build_query(chosen), limit=PAGE, cursor=request.query.get("cursor")),
        request.api.get("/v1/tasks", limit=100),
        request.api.get("/v1/agents", limit=100),
    )
    query = urlencode({field: value for field, value in chosen.items() if value})
    values = {
        "listed": listed,
        "chosen": chosen,
        "statuses": [("", "any"), *((status.value, status.value.replace("_", " ")) for status in Status)],
        "task_options": _list_options(tasks["tasks"], "task_id"),
        "agent_options": _list_options(agents["agents"], "agent_id"),
        "task_names": {task["task_id"]: task["name"] for task in tasks["tasks"]},
        "here": f"{PATH}?{query}" if query else PATH,
        "refresh_s": REFRESH_S,
    }
    return ConsolePage(template="executions.html", title="Executions", values=values)


def _build_query(chosen: dict[str, str]) -> dict[str, Any]:
    since = chosen["since"]
    # a browser's field for a day has no time and no zone: its day begins at midnight in UTC
    moment = f"{since}T00:00:00Z" if len(since) == len("2026-01-01") else since
    return {**chosen, "since": moment, "waiting": bool(chosen["waiting"]) or ""}


def _list_options(items: list[dict[str, str]], key: str) -> list[tuple[str, str]]:
    return [("", "any"), *((item[key], show_text(item["name"])) for item in items)]


ROUTES = (ConsoleRoute(path=PATH, show=show_executions, section="executions"),)
