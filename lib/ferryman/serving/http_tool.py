"""http_tool as a function: what every tool function does, and three routes for the API.

POST /connect exchanges a person's consent for a credential; POST /document fetches an OpenAPI document, with those it refers
to, for the owner of a task; POST /authority those of the operator's authorization server. 422 says why it failed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.problem import InvalidInputError
from ferryman.ports.errors import UnavailableError
from ferryman.serving import tool
from ferryman.serving.entry import Handler, read_body
from ferryman.serving.problems import create_problem
from ferryman.settings import Settings

if TYPE_CHECKING:
    from ferryman.composition.http_tool import HttpToolFunction


def serve() -> Handler:
    """Return the `main` of http_tool."""
    return tool.serve_tool("http_tool", build_function, ROUTES)


def build_function(known: Settings) -> HttpToolFunction:
    """Return what the function is made of."""
    from ferryman.composition.http_tool import HttpToolFunction

    function = HttpToolFunction(known)
    function.load()
    return function


async def _connect(function: HttpToolFunction, request: Request) -> Response:
    from ferryman.domain.credentials.connection import NotConnectedError
    from ferryman.tools.tokens.consent import redeem_code

    body = await read_body(request, task=str, owner=str, digest=str, code=str, iss=str, version=int)
    try:
        return JSONResponse({"name": await redeem_code(function.dependencies, **{**body, "iss": body["iss"] or None})})
    except NotConnectedError as unconnected:
        return create_problem(422, str(unconnected))


async def _document(function: HttpToolFunction, request: Request) -> Response:
    from ferryman.tools.declared.documents import fetch_for_owner

    body = await read_body(request, task=str, owner=str, url=str)
    try:
        fetched = await fetch_for_owner(function.dependencies, function.tasks, function.documents, **body)
    except (InvalidInputError, CallRefusedError) as refused:
        return create_problem(422, str(refused))
    # sizes first, then the texts as they are: a JSON of some megabytes would block the writer and the reader
    head = json.dumps({"sizes": [[url, len(text)] for url, text in fetched.texts.items()]})
    return Response(b"".join((head.encode(), b"\n", *fetched.texts.values())), media_type="application/octet-stream")


async def _authority(function: HttpToolFunction, request: Request) -> Response:
    from ferryman.tools.tokens.authority import fetch_authority_keys

    await read_body(request)
    if not function.oauth_issuer:
        return create_problem(422, "FERRYMAN_OAUTH_ISSUER is not set for this function")
    try:
        return JSONResponse({"keys": await fetch_authority_keys(function.dependencies.gate, function.oauth_issuer)})
    except UnavailableError as error:
        return create_problem(422, str(error))


ROUTES = {"/connect": _connect, "/document": _document, "/authority": _authority}
"""The routes for the API, by path."""
