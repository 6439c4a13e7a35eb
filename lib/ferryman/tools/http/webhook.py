"""webhook: posts to the URLs the task registered, and to nothing else (S0-54 … S0-64)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.tools.tool import Tool
from ferryman.tools.arguments import build_property, build_request, build_schema

TOOL = Tool(
    name="webhook",
    description="Post a JSON body to one of the webhook URLs registered for this task.",
    schema=build_schema(
        {"url": build_property("Registered webhook URL"), "body": build_property("Request body (JSON)", "object")},
        required=["url", "body"],
    ),
)


def parse_request(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`."""
    return build_request(TOOL, Method.POST, arguments)
