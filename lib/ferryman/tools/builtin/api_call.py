"""api_call: an authenticated request; the model names the credential, the gate injects it (S0-9 … S0-19)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain import refusal
from ferryman.domain.http import Method, Outbound
from ferryman.domain.refusal import Refused
from ferryman.domain.tool import Tool
from ferryman.tools import arguments as given

METHODS = (Method.GET, Method.POST, Method.PUT, Method.DELETE)

TOOL = Tool(
    name="api_call",
    description=(
        "Make an authenticated HTTP request to an external API. The credential is injected automatically into the auth "
        "header -- never include API keys in the URL, body, or custom headers."
    ),
    schema={
        "type": "object",
        "properties": {
            "method": {"type": "string", "enum": [method.value for method in METHODS], "description": "HTTP method"},
            "url": {"type": "string", "description": "The API endpoint URL (HTTPS only)"},
            "credential": {"type": "string", "description": "Name of the credential to use (e.g., LUNARCRUSH_API_KEY)"},
            "headers": {"type": "object", "description": "Additional request headers (do NOT include auth headers)"},
            "body": {"type": "object", "description": "Request body for POST/PUT (JSON)"},
            "query_params": {"type": "object", "description": "URL query parameters"},
        },
        "required": ["method", "url", "credential"],
    },
)


def read(arguments: Mapping[str, Any]) -> Outbound:
    """What the call asks for. A missing credential is what is said first, whatever else is wrong (S0-27)."""
    if arguments.get("credential") in (None, ""):
        raise Refused(refusal.missing_credential())
    method = given.method(TOOL, arguments, METHODS)
    given.check(TOOL, {**arguments, "method": method.value})
    return Outbound(
        tool=TOOL.name,
        method=method,
        url=arguments["url"],
        headers=arguments.get("headers", {}),
        query_params=arguments.get("query_params", {}),
        body=arguments.get("body") if method.carries_body else None,
        credential=arguments["credential"],
    )
