"""http_post: an unauthenticated POST to an approved domain, for endpoints whose secret is their URL (S0-46 … S0-52)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.tools.tool import Tool
from ferryman.tools.arguments import HEADERS, build_property, build_request, build_schema

TOOL = Tool(
    name="http_post",
    description="Send a JSON body with an unauthenticated HTTP POST to an approved integration domain.",
    schema=build_schema(
        {
            "url": build_property("The URL to post to (HTTPS only)"),
            "body": build_property("Request body (JSON)", "object"),
            "headers": HEADERS,
        },
        required=["url", "body"],
    ),
)


def parse_request(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`."""
    return build_request(TOOL, Method.POST, arguments)
