"""The sessions of the console: the browsers that are signed in; end one."""

from __future__ import annotations

from ferryman.serving.console.form_fields import read_id
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, Redirect

PATH = f"{ROOT}/sessions"


async def show_sessions(request: ConsoleRequest) -> ConsolePage:
    """Show the sessions of the person who is signed in."""
    listed = await request.api.get("/v1/sessions", cursor=request.query.get("cursor"))
    return ConsolePage(template="sessions.html", title="Sessions", values={"listed": listed})


async def revoke_session(request: ConsoleRequest) -> Redirect:
    """End a session."""
    await request.api.delete(f"/v1/sessions/{read_id(request.form, 'id')}")
    return Redirect(path=PATH, done="revoked")


ROUTES = (ConsoleRoute(path=PATH, show=show_sessions, section="sessions", actions={"revoke": revoke_session}),)
