"""webhook: posts to the URLs the task registered, and to nothing else (S0-54 … S0-64)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.tools.tool import Tool
from ferryman.tools.arguments import check_arguments

TOOL = Tool(
    name="webhook",
    description="Post a JSON body to one of the webhook URLs registered for this task.",
    schema={
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "Registered webhook URL"},
            "body": {"type": "object", "description": "Request body (JSON)"},
        },
        "required": ["url", "body"],
    },
)


def parse_request(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`."""
    check_arguments(TOOL, arguments)
    return OutboundRequest(tool=TOOL.name, method=Method.POST, url=arguments["url"], body=arguments["body"])
