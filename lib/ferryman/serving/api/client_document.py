"""Our client ID metadata document over HTTP: who we are to the authorization servers of MCP servers, for anyone."""

from __future__ import annotations

import json

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.remote_servers.client_document import build_document

HEADERS = {"Cache-Control": "public, max-age=3600"}
"""It holds no secret, and is the same for everybody."""


async def show_document(request: Request) -> Response:
    """Answer the document. Raise 404 where this deployment has no public URL, which is the client's id."""
    deps: ApiDependencies = request.app.state.deps
    if not deps.client_document_url:
        raise HTTPException(404)
    return Response(json.dumps(build_document(deps.client_document_url)), media_type="application/json", headers=HEADERS)
