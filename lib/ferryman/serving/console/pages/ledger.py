"""The ledger: a month's credits, the budgets that they count against, and that the books sum to zero."""

from __future__ import annotations

from ferryman.serving.console.api_client import ask_together
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute

PATH = f"{ROOT}/ledger"
GROUPINGS = ("task", "agent", "person")


async def show_ledger(request: ConsoleRequest) -> ConsolePage:
    """Show the statement of a month by task, agent or person, and this month's budgets."""
    by = request.query.get("by", GROUPINGS[0])
    statement, budget = await ask_together(
        request.api.get("/v1/ledger", month=request.query.get("month"), by=by), request.api.get("/v1/budget")
    )
    values = {"statement": statement, "budget": budget, "groupings": GROUPINGS}
    return ConsolePage(template="ledger.html", title="Ledger", values=values)


ROUTES = (ConsoleRoute(path=PATH, show=show_ledger, section="ledger"),)
