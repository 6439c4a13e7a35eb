"""The person: consents at the page that they are led to, and answers what a server asks them with what its form proposes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from ferryman.domain.credentials.authorization_response import AuthorizationResponse, read_response
from ferryman.tools.mcp.protocol import Elicitation
from tests.campaigns.mcp.conformant.names import locate_url, name_url

REDIRECT = "http://127.0.0.1:49152/callback/mcp"
EXAMPLES: Mapping[str, Any] = {"string": "an answer", "integer": 5, "number": 5, "boolean": True}


async def consent(http: httpx.AsyncClient, authorize_url: str, state: str, issuer: str) -> AuthorizationResponse:
    """Open the page, and return what it led back with. Raise as the command line does."""
    page = await http.get(locate_url(authorize_url))
    return read_response(name_url(page.headers["location"]), redirect_uri=REDIRECT, state=state, issuer=issuer)


def answer(question: Elicitation) -> dict[str, Any]:
    """Return the answer to a form, or to a link that is not visited."""
    if question.schema is None:
        return {"action": "decline"}
    return {"action": "accept", "content": fill_in(question.schema, required=False)}


def fill_in(schema: Mapping[str, Any], *, required: bool = True) -> dict[str, Any]:
    """Return an object of the schema: what it defaults to, else an example, for what is `required`, or for everything."""
    names = schema.get("required", []) if required else list(schema.get("properties", {}))
    filled = {}
    for name in names:
        field = schema["properties"][name]
        options = field.get("enum", [EXAMPLES.get(field.get("type", ""), "an answer")])
        filled[name] = field.get("default", options[0])
    return filled
