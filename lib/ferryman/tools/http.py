"""The four built-in tools (S0-1) in the order the model sees them, each with its definition and its parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.tools.tool import Tool
from ferryman.tools.arguments import HEADERS, QUERY_PARAMS, build_property, build_request, build_schema, parse_method

METHODS = (Method.GET, Method.POST, Method.PUT, Method.DELETE)

API_CALL = Tool(  # the model names the credential, the gate injects it (S0-9 … S0-19)
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

HTTP_GET = Tool(  # public data from approved domains, without any credential (S0-37 … S0-43)
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

HTTP_POST = Tool(  # to an approved domain, for endpoints whose secret is their URL (S0-46 … S0-52)
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

WEBHOOK = Tool(  # posts to the URLs the task registered, and to nothing else (S0-54 … S0-64)
    name="webhook",
    description="Post a JSON body to one of the webhook URLs registered for this task.",
    schema=build_schema(
        {"url": build_property("Registered webhook URL"), "body": build_property("Request body (JSON)", "object")},
        required=["url", "body"],
    ),
)

TOOLS = (API_CALL, HTTP_GET, HTTP_POST, WEBHOOK)


def parse_api_call(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`; a missing credential is reported before other faults (S0-27)."""
    if arguments.get("credential") in (None, ""):
        raise CallRefusedError(refusal.MISSING_CREDENTIAL)
    method = parse_method(API_CALL, arguments, METHODS)
    return build_request(API_CALL, method, {**arguments, "method": method.value})


def parse_http_get(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`."""
    return build_request(HTTP_GET, Method.GET, arguments)


def parse_http_post(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`."""
    return build_request(HTTP_POST, Method.POST, arguments)


def parse_webhook(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`."""
    return build_request(WEBHOOK, Method.POST, arguments)


PARSERS: Mapping[str, Callable[[Mapping[str, Any]], OutboundRequest]] = {
    API_CALL.name: parse_api_call,
    HTTP_GET.name: parse_http_get,
    HTTP_POST.name: parse_http_post,
    WEBHOOK.name: parse_webhook,
}
"""Parsers of each tool's arguments into an `OutboundRequest`; they raise `CallRefusedError`."""
