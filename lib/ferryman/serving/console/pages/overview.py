"""The overview: what runs, what waits for you, what failed, the credits of this month, and the tasks scheduled next."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any

from ferryman.serving.console.api_client import ask_together
from ferryman.serving.console.pages.halt import ACTIONS
from ferryman.serving.console.plot import build_plot
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute

SHOWN_MAX = 20
"""How many executions and approvals of a kind the overview shows, before a link to all of them."""

FIRES_MAX = 10
TASKS_MAX = 100
REFRESH_S = 5
FAILURES = ("failed", "timeout")


async def show_overview(request: ConsoleRequest) -> ConsolePage:
    """Show the overview of the workspace; a refresh of parts reads neither the month nor the schedules again."""
    api, since = request.api, (request.now - timedelta(days=1)).isoformat()
    me, running, approvals, *failures = await ask_together(
        api.get("/v1/me"),
        api.get("/v1/executions", status="running", limit=SHOWN_MAX),
        api.get("/v1/approvals", state="pending", limit=SHOWN_MAX),
        *(api.get("/v1/executions", status=status, since=since, limit=SHOWN_MAX) for status in FAILURES),
    )
    ended = [execution for listed in failures for execution in listed["executions"]]
    ended.sort(key=lambda execution: execution["created_at"], reverse=True)
    values = {
        "me": me,
        "running": running,
        "waiting": [approval for approval in approvals["approvals"] if not approval["expired"]],
        "waiting_more": approvals["next"] is not None,
        "failed": ended[:SHOWN_MAX],
        "failed_more": len(ended) > SHOWN_MAX or any(listed["next"] is not None for listed in failures),
        "is_owner": not request.session.key_workspace,
        "month": None if request.is_partial else await _read_month(request),
        "refresh_s": REFRESH_S,
    }
    return ConsolePage(template="overview.html", title="Overview", values=values)


async def _read_month(request: ConsoleRequest) -> dict[str, Any]:
    """Return the credits used on each day of this month, and the tasks that run next."""
    today = request.now.astimezone(UTC).date()
    usage, tasks = await ask_together(
        request.api.get("/v1/usage", by="day", since=today.replace(day=1), until=today),
        request.api.get("/v1/tasks", enabled=True, limit=TASKS_MAX),
    )
    has_tasks = bool(tasks["tasks"]) or bool((await request.api.get("/v1/tasks", limit=1))["tasks"])
    scheduled = sorted((task for task in tasks["tasks"] if task["next_fire_at"]), key=lambda task: task["next_fire_at"])
    return {
        "usage": usage,
        "plot": build_plot(usage),
        "scheduled": scheduled[:FIRES_MAX],
        "scheduled_more": len(scheduled) > FIRES_MAX or tasks["next"] is not None,
        "has_tasks": has_tasks,
    }


ROUTES = (ConsoleRoute(path=ROOT, show=show_overview, section="overview", actions=ACTIONS),)
