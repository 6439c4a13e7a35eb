"""The overview: what runs, what waits for you, what failed, what was spent this month, and what fires next."""

from __future__ import annotations

from ferryman.serving.console.routing import ROOT, ConsoleRoute, Page, PageRequest


async def show_overview(request: PageRequest) -> Page:
    """Show the overview of the workspace."""
    me = await request.api.get("/v1/me")
    return Page(template="overview.html", title="Overview", values={"me": me})


ROUTES = (ConsoleRoute(path=ROOT, show=show_overview, section="overview"),)
