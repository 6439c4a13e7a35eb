"""The ledger: a month's credits, also as a file for a spreadsheet, budgets, and the alerts of those that are reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from starlette.responses import Response

from ferryman.serving.console.api_client import ask_together
from ferryman.serving.console.csv_export import write_csv
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute
from ferryman.serving.console.security_headers import HEADERS

PATH = f"{ROOT}/ledger"
MONTHS_MAX = 24
ALERTS_MAX = 20
COLUMNS = ("executions", "llm_tokens", "api_call_fees", "embedding", "storage_bytes", "credits")
NAMES_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LineNoun:
    """The noun of a line: its list in the API, the field of its id, and its page below the console's root."""

    path: str
    id: str
    page: str


NOUNS = {
    "task": LineNoun(path="tasks", id="task_id", page="tasks"),
    "agent": LineNoun(path="agents", id="agent_id", page="agents"),
    "person": LineNoun(path="members", id="person_id", page="people"),
    "workspace": LineNoun(path="workspaces", id="workspace_id", page="workspaces"),
}
"""The groupings of a statement."""


async def show_ledger(request: ConsoleRequest) -> ConsolePage:
    """Show the statement of a month by task, agent, person or workspace, this month's budgets, and alerts."""
    is_owner = not request.session.key_workspace
    groupings = ("task", "agent", "person", "workspace") if is_owner else ("task", "agent", "person")
    of = "plan" if request.query.get("of") == "plan" else "workspace"
    statement, names, budget, alerts = await ask_together(
        _read_statement(request),
        _name_subjects(request),
        request.api.get("/v1/budget"),
        request.api.get("/v1/alerts", of=of, limit=ALERTS_MAX, cursor=request.query.get("cursor")),
    )
    values = {
        "statement": statement,
        "budget": budget,
        "alerts": alerts,
        "of": of,
        "is_owner": is_owner,
        "groupings": groupings,
        "months": _list_months(request, statement["month"]),
        "line_page": NOUNS[statement["by"]].page,
        "names": names,
        "workspace": request.session.current_workspace,
    }
    return ConsolePage(template="ledger.html", title="Ledger", values=values)


async def export_ledger(request: ConsoleRequest) -> Response:
    """Send the statement of a month as CSV, a line for each task, agent, person or workspace."""
    statement, names = await ask_together(_read_statement(request), _name_subjects(request))
    lines = [[line["id"], names.get(line["id"], ""), *(line[name] for name in COLUMNS)] for line in statement["lines"]]
    content = write_csv([("id", "name", *COLUMNS), *lines])
    name = f"ledger-{statement['month']}-{statement['by']}.csv"
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}"', "Content-Security-Policy": "sandbox"}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


async def _read_statement(request: ConsoleRequest) -> Mapping[str, Any]:
    by = request.query.get("by", "task")
    statement: Mapping[str, Any] = await request.api.get("/v1/ledger", month=request.query.get("month"), by=by)
    return statement


async def _name_subjects(request: ConsoleRequest) -> dict[str, str]:
    """Return the names of the first tasks, agents, people or workspaces that are there, by id."""
    noun = NOUNS.get(request.query.get("by", "task"))
    if noun is None:
        return {}
    listed = await request.api.get(f"/v1/{noun.path}", limit=NAMES_MAX)
    return {item[noun.id]: item["name"] for item in listed[noun.path]}


def _list_months(request: ConsoleRequest, chosen: str) -> list[str]:
    """Return this month and those before it, newest first; the one that is shown is among them."""
    now = request.now.astimezone(UTC)
    last = now.year * 12 + now.month - 1
    months = [f"{number // 12}-{number % 12 + 1:02}" for number in range(last, last - MONTHS_MAX, -1)]
    return months if chosen in months else [*months, chosen]


ROUTES = (
    ConsoleRoute(path=PATH, show=show_ledger, section="ledger"),
    ConsoleRoute(path=f"{PATH}/export", show=export_ledger, section="ledger"),
)
