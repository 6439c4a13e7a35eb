"""http_get: public data from approved domains, without any credential (S0-37 … S0-43)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.tools.tool import Tool
from ferryman.tools.arguments import HEADERS, QUERY_PARAMS, build_property, build_request, build_schema

TOOL = Tool(
    name="http_get",
    description=(
        "Fetch public data with an unauthenticated HTTP GET from an approved integration domain. "
        "Use api_call where the API needs a credential."
    ),
    schema=build_schema(
        {"url": build_property("The URL to fetch (HTTPS only)"), "headers": HEADERS, "query_params": QUERY_PARAMS},
        required=["url"],
    ),
)


def parse_request(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`."""
    return build_request(TOOL, Method.GET, arguments)
