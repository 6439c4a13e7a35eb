"""api_call: an authenticated request; the model names the credential, the gate injects it (S0-9 … S0-19)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.tools.tool import Tool
from ferryman.tools.arguments import HEADERS, QUERY_PARAMS, build_property, build_request, build_schema, parse_method

METHODS = (Method.GET, Method.POST, Method.PUT, Method.DELETE)

TOOL = Tool(
    name="api_call",
    description=(
        "Make an authenticated HTTP request to an external API. The credential is injected automatically into the auth "
        "header -- never include API keys in the URL, body, or custom headers."
    ),
    schema=build_schema(
        {
            "method": build_property("HTTP method", enum=[method.value for method in METHODS]),
            "url": build_property("The API endpoint URL (HTTPS only)"),
            "credential": build_property("Name of the credential to use (e.g., LUNARCRUSH_API_KEY)"),
            "headers": HEADERS,
            "body": build_property("Request body for POST/PUT (JSON)", "object"),
            "query_params": QUERY_PARAMS,
        },
        required=["method", "url", "credential"],
    ),
)


def parse_request(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`; a missing credential is reported before other faults (S0-27)."""
    if arguments.get("credential") in (None, ""):
        raise CallRefusedError(refusal.MISSING_CREDENTIAL)
    method = parse_method(TOOL, arguments, METHODS)
    return build_request(TOOL, method, {**arguments, "method": method.value})
