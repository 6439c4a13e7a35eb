"""http_post: an unauthenticated POST to an approved domain, for endpoints whose secret is their URL (S0-46 … S0-52)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.http import Method, Outbound
from ferryman.domain.tool import Tool
from ferryman.tools import arguments as given

TOOL = Tool(
    name="http_post",
    description="Send a JSON body with an unauthenticated HTTP POST to an approved integration domain.",
    schema={
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "The URL to post to (HTTPS only)"},
            "body": {"type": "object", "description": "Request body (JSON)"},
            "headers": {"type": "object", "description": "Additional request headers (do NOT include auth headers)"},
        },
        "required": ["url", "body"],
    },
)


def read(arguments: Mapping[str, Any]) -> Outbound:
    """What the call asks for; raises `Refused`."""
    given.check(TOOL, arguments)
    return Outbound(
        tool=TOOL.name,
        method=Method.POST,
        url=arguments["url"],
        headers=arguments.get("headers", {}),
        body=arguments["body"],
    )
