"""http_tool as a function: what every tool function does, and two things that the API asks of it.

POST /connect exchanges a person's consent for a credential; POST /document fetches an OpenAPI document, with those it refers
to, for the owner of a task. 422 says why it came to nothing.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman.domain.connection import Unconnected
from ferryman.domain.problem import Invalid
from ferryman.domain.refusal import Refused
from ferryman.serving import tool
from ferryman.serving.entry import Handler, body_of
from ferryman.serving.problems import problem
from ferryman.tools.connect import finish
from ferryman.tools.custom.owners import document
from ferryman.wiring.http_tool import HttpTool


def serve() -> Handler:
    """The `main` of http_tool."""
    return tool.served("http_tool", HttpTool, ASKED)


async def _connect(house: HttpTool, request: Request) -> Response:
    body = await body_of(request, task=str, owner=str, digest=str, code=str, version=int)
    try:
        return JSONResponse({"name": await finish(house.carrying, **body)})
    except Unconnected as unconnected:
        return problem(422, "Unprocessable Content", str(unconnected))


async def _document(house: HttpTool, request: Request) -> Response:
    body = await body_of(request, task=str, owner=str, url=str)
    try:
        found = await document(house.carrying, house.tasks, house.documents, **body)
    except (Invalid, Refused) as refused:
        return problem(422, "Unprocessable Content", str(refused))
    return JSONResponse({"root": found.root, "texts": dict(found.texts)})


ASKED = {"/connect": _connect, "/document": _document}
"""What the API asks of it, by path."""
