"""The kill switch, on a page that asks before anything is stopped."""

from __future__ import annotations

from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, Redirect

PATH = f"{ROOT}/halt"


async def show_halt(request: ConsoleRequest) -> ConsolePage:
    """Show whether everything is stopped, and the button that changes it."""
    me = await request.api.get("/v1/me")
    return ConsolePage(template="halt.html", title="Stop everything", values={"halted": me["halted"]})


async def halt(request: ConsoleRequest) -> Redirect:
    """End all executions of the owner, and let none start."""
    await request.api.put("/v1/halt")
    return Redirect(path=request.path, done="halted")


async def release(request: ConsoleRequest) -> Redirect:
    """Let executions start again."""
    await request.api.delete("/v1/halt")
    return Redirect(path=request.path, done="released")


ACTIONS = {"halt": halt, "release": release}
ROUTES = (ConsoleRoute(path=PATH, show=show_halt, section="overview", actions=ACTIONS),)
