"""http_get: public data from approved domains, without any credential (S0-37 … S0-43)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.tools.tool import Tool
from ferryman.tools.arguments import check_arguments

TOOL = Tool(
    name="http_get",
    description=(
        "Fetch public data with an unauthenticated HTTP GET from an approved integration domain. "
        "Use api_call where the API needs a credential."
    ),
    schema={
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "The URL to fetch (HTTPS only)"},
            "headers": {"type": "object", "description": "Additional request headers (do NOT include auth headers)"},
            "query_params": {"type": "object", "description": "URL query parameters"},
        },
        "required": ["url"],
    },
)


def parse_request(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`."""
    check_arguments(TOOL, arguments)
    return OutboundRequest(
        tool=TOOL.name,
        method=Method.GET,
        url=arguments["url"],
        headers=arguments.get("headers", {}),
        query_params=arguments.get("query_params", {}),
    )
