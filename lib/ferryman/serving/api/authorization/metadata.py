"""The metadata of this server as a protected resource (RFC 9728): where a client of /mcp gets an access token, for anyone."""

from __future__ import annotations

import json

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.workspaces.identity import list_scopes
from ferryman.serving.api.authorization.challenges import OWN_CATEGORY

HEADERS = {"Cache-Control": "max-age=300", "Access-Control-Allow-Origin": "*"}
"""A client in a web page may read it: it is the same for everybody."""


async def show_metadata(request: Request) -> Response:
    """Answer the metadata. Raise 404 where no authorization server is named, and for another resource than this one."""
    deps: ApiDependencies = request.app.state.deps
    path = request.path_params.get("path")
    if deps.resource is None or (path is not None and not deps.resource.metadata_url.endswith(f"/{path}")):
        raise HTTPException(404)
    described = deps.resource.describe(list_scopes([OWN_CATEGORY, *(tool.category for tool in deps.tools)]))
    return Response(json.dumps(described), media_type="application/json", headers=HEADERS)
