"""http_post: an unauthenticated POST to an approved domain, for endpoints whose secret is their URL (S0-46 … S0-52)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.tools.tool import Tool
from ferryman.tools.arguments import check_arguments

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


def parse_request(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`."""
    check_arguments(TOOL, arguments)
    return OutboundRequest(
        tool=TOOL.name,
        method=Method.POST,
        url=arguments["url"],
        headers=arguments.get("headers", {}),
        body=arguments["body"],
    )
