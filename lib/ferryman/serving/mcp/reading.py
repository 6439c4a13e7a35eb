"""Reading a request: where it comes from (protection against DNS rebinding), its body within bounds, its JSON-RPC envelope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request

from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.strict_json import NotStrictJsonError, TooManyValuesError, parse_json
from ferryman.serving.mcp.errors import McpError, refuse_http
from ferryman.serving.mcp.server import McpServer

DEPTH_MAX = 64
"""How deep values of a message may be nested."""

VALUES_MAX = 10_000
"""How many values a message may have."""

ID_CHARACTERS_MAX = 1_024
ID_MAX = 2**53 - 1
"""The largest integer that every client represents exactly."""

METHOD_CHARACTERS_MAX = 256


def check_origin(server: McpServer, request: Request) -> None:
    """Raise `McpError`: 403 for a page of another origin, 421 for a name that is not the server's (DNS rebinding)."""
    if server.hosts is not None:
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or _read_host(f"//{hosts[0]}") not in server.hosts:
            raise refuse_http(421, "nothing is served under this name here")
    for origin in request.headers.getlist("origin"):
        if origin not in server.origins and (server.hosts is None or _read_host(origin) not in server.hosts):
            raise refuse_http(403, "pages of this origin may not ask here")


def _read_host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


async def read_body(server: McpServer, request: Request) -> bytes:
    """Return the body. Raise `McpError`: 415 for another type than JSON, 413 for too long."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise refuse_http(415, "the body must be application/json")
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and (len(length) > 18 or int(length) > server.body_bytes_max):
        raise refuse_http(413, f"the body is larger than {server.body_bytes_max:,} bytes")
    received = bytearray()
    try:
        async for chunk in request.stream():
            received += chunk
            if len(received) > server.body_bytes_max:
                raise refuse_http(413, f"the body is larger than {server.body_bytes_max:,} bytes")
    except ClientDisconnect:
        raise refuse_http(400, "the body broke off") from None
    return bytes(received)


def parse_message(body: bytes) -> dict[str, Any]:
    """Return the message in `body`: one JSON object. Raise `McpError`, -32700 for what is no JSON, -32600 for another value.

    No JSON are names that come twice, numbers that are none or too large for it, lone surrogates, and nesting beyond
    `DEPTH_MAX`. More than `VALUES_MAX` values are not read: they would hold up every other caller.
    """
    try:
        message = parse_json(body, depth_max=DEPTH_MAX, values_max=VALUES_MAX)
    except TooManyValuesError:
        raise McpError(ErrorCode.INVALID_REQUEST, f"the body has more than {VALUES_MAX:,} values") from None
    except NotStrictJsonError as error:
        raise McpError(ErrorCode.PARSE_ERROR, str(error)) from None
    if isinstance(message, list):
        raise McpError(ErrorCode.INVALID_REQUEST, "batches are not served: send one message for each request")
    if not isinstance(message, dict):
        raise McpError(ErrorCode.INVALID_REQUEST, "the body must be one JSON-RPC message, an object")
    return message


def read_id(message: Mapping[str, Any]) -> str | int | None:
    """Return the message's id, None where it has none that may be repeated in an answer."""
    value = message.get("id")
    if isinstance(value, str) and len(value) <= ID_CHARACTERS_MAX:
        return value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= ID_MAX:
        return value
    return None


def check_envelope(message: Mapping[str, Any]) -> None:
    """Raise `McpError` with -32600 unless `message` is a request, a notification or a response of JSON-RPC 2.0."""
    if message.get("jsonrpc") != "2.0":
        raise McpError(ErrorCode.INVALID_REQUEST, 'jsonrpc must be "2.0"')
    if "id" in message and read_id(message) is None:
        raise McpError(
            ErrorCode.INVALID_REQUEST,
            f"id must be a text of at most {ID_CHARACTERS_MAX:,} characters or an integer of at most 53 bits",
        )
    if "method" not in message:
        if "id" in message and "params" not in message and ("result" in message) != ("error" in message):
            return
        raise McpError(ErrorCode.INVALID_REQUEST, "method is missing")
    method = message["method"]
    if not isinstance(method, str) or not 0 < len(method) <= METHOD_CHARACTERS_MAX:
        raise McpError(ErrorCode.INVALID_REQUEST, f"method must be a text of 1 to {METHOD_CHARACTERS_MAX} characters")
    if "result" in message or "error" in message:
        raise McpError(ErrorCode.INVALID_REQUEST, "a request has no result and no error")
    if not isinstance(message.get("params", {}), Mapping):
        raise McpError(ErrorCode.INVALID_PARAMS, "params must be an object")
