"""webhook: posts to the URLs the task registered, and to nothing else (S0-54 … S0-64)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.http import Method, Outbound
from ferryman.domain.tool import Tool
from ferryman.tools import arguments as given

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


def read(arguments: Mapping[str, Any]) -> Outbound:
    """What the call asks for; raises `Refused`."""
    given.check(TOOL, arguments)
    return Outbound(tool=TOOL.name, method=Method.POST, url=arguments["url"], body=arguments["body"])
