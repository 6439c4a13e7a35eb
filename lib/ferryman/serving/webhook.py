"""webhook as a function: what every tool function does, and one route more for the orchestrator: POST /alert sends an alert."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman.serving import tool
from ferryman.serving.entry import Handler, read_body
from ferryman.settings import Settings

if TYPE_CHECKING:
    from ferryman.composition.webhook import WebhookFunction


def serve(name: str) -> Handler:
    """Return the `main` of the tool `name`, webhook."""
    return tool.serve_tool(name, build_function, {}, for_callers=ROUTES)


def build_function(known: Settings) -> WebhookFunction:
    """Return what the function is made of."""
    from ferryman.composition.webhook import WebhookFunction

    function = WebhookFunction(known)
    function.load()
    return function


async def _send(function: WebhookFunction, request: Request) -> Response:
    from ferryman.domain.approvals.notice import PREFIX
    from ferryman.domain.delivery import AlertState
    from ferryman.tools.alerting.notify import send_notice
    from ferryman.tools.alerting.send import send_alert

    body = await read_body(request, alert=str)
    name = body["alert"]
    # the queue of alerts delivers the notices of approvals, too
    sent = await (send_notice if name.startswith(PREFIX) else send_alert)(function.alerts, name)
    is_pending = sent is not None and sent.state is AlertState.PENDING
    return JSONResponse({"attempts": sent.attempts if sent is not None and is_pending else None})


ROUTES = {"/alert": _send}
"""The routes for the orchestrator, by path."""
