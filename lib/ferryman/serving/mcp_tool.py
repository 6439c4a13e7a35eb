"""mcp_tool as a function: what every tool function does, and routes for the API, which reaches no MCP server itself.

POST /list lists the tools of a server, and stores them. POST /discover finds what the owner of a server is asked to consent
to; POST /connect exchanges that consent for a token. 422 says why it failed.
POST /abandon, for the orchestrator, tells a server that nobody waits for its work any longer.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman.domain.stale import StaleError
from ferryman.serving import tool
from ferryman.serving.entry import Handler, read_body
from ferryman.serving.problems import create_problem
from ferryman.settings import Settings

if TYPE_CHECKING:
    from ferryman.composition.mcp_tool import McpToolFunction


def serve() -> Handler:
    """Return the `main` of mcp_tool."""
    return tool.serve_tool("mcp_tool", build_function, ROUTES, for_callers=CALL_ROUTES)


def build_function(known: Settings) -> McpToolFunction:
    """Return what the function is made of."""
    from ferryman.composition.mcp_tool import McpToolFunction

    function = McpToolFunction(known)
    function.load()
    return function


async def _discover(function: McpToolFunction, request: Request) -> Response:
    from ferryman.domain.credentials.connection import NotConnectedError
    from ferryman.tools.mcp.authorization.preparing import ConsentRequest
    from ferryman.tools.mcp.authorization.registration import PersonalClient

    body = await read_body(
        request, server=str, owner=str, redirect_uri=str, client_id=str, has_secret=bool, scopes=list, document_url=str
    )
    client = PersonalClient(id=body["client_id"], has_secret=body["has_secret"]) if body["client_id"] else None
    wanted_scopes = tuple(map(str, body["scopes"])) or None
    consent = ConsentRequest(
        redirect_uri=body["redirect_uri"], client=client, scopes=wanted_scopes, document_url=body["document_url"]
    )
    try:
        prepared = await function.connecting.discover(body["server"], owner=body["owner"], request=consent)
    except NotConnectedError as unconnected:
        return create_problem(422, str(unconnected))
    secret = "" if prepared.client_secret is None else prepared.client_secret.reveal()
    return JSONResponse({"authorization": asdict(prepared.authorization), "client_secret": secret})


async def _connect(function: McpToolFunction, request: Request) -> Response:
    from ferryman.domain.credentials.connection import NotConnectedError

    body = await read_body(request, server=str, owner=str, digest=str, code=str, iss=str, version=int)
    try:
        return JSONResponse({"name": await function.connecting.finish(**{**body, "iss": body["iss"] or None})})
    except NotConnectedError as unconnected:
        return create_problem(422, str(unconnected))


async def _list(function: McpToolFunction, request: Request) -> Response:
    from ferryman.tools.mcp.refreshing import refresh_server

    body = await read_body(request, server=str, owner=str)
    try:
        listed = await refresh_server(function.remote, body["server"], owner=body["owner"])
    except StaleError as stale:
        return create_problem(422, str(stale))
    return JSONResponse({"state": listed.state.value, "detail": listed.detail})


async def _abandon(function: McpToolFunction, request: Request) -> Response:
    from ferryman.tools.mcp.abandoning import abandon_work

    body = await read_body(request, execution=str, call=int, epoch=int, task=str, continuation=str)
    try:
        continuation = base64.b64decode(body.pop("continuation"), validate=True)
    except ValueError:
        return create_problem(400, "continuation must be base64")
    seq = body.pop("call")
    return JSONResponse({"cancelled": await abandon_work(function.remote, continuation, seq=seq, **body)})


CALL_ROUTES: Mapping[str, tool.Route[McpToolFunction]] = {"/abandon": _abandon}
"""The routes for those who have calls executed."""

ROUTES: Mapping[str, tool.Route[McpToolFunction]] = {"/list": _list, "/discover": _discover, "/connect": _connect}
"""The routes for the API, by path."""
