"""Reading a request: where it comes from (protection against DNS rebinding), its body within bounds, its JSON-RPC envelope."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request

from ferryman.serving.mcp.errors import ErrorCode, McpError, refuse_http
from ferryman.serving.mcp.server import McpServer

DEPTH_MAX = 64
"""How deep values of a message may be nested."""

VALUES_MAX = 10_000
"""How many values a message may have."""

ID_CHARACTERS_MAX = 1_024
ID_MAX = 2**53 - 1
"""The largest integer that every client represents exactly."""

METHOD_CHARACTERS_MAX = 256

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""A string, or the rest of a text that ends within one: another search from each of its quotes would take quadratic time."""

_SIGNS = (b"[", b"{", b",")
_ROUND = bytes.maketrans(b"[]{}", b"()()")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


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
    if _has_more_values(body, VALUES_MAX):
        raise McpError(ErrorCode.INVALID_REQUEST, f"the body has more than {VALUES_MAX:,} values")
    try:
        message = json.loads(
            body.decode(), object_pairs_hook=_join_pairs, parse_constant=_refuse_constant, parse_float=_parse_float
        )
        if b"\\u" in body:
            json.dumps(message, ensure_ascii=False).encode()  # fails where half of a character is alone
    except RecursionError:
        raise McpError(ErrorCode.PARSE_ERROR, f"the body is nested more than {DEPTH_MAX} deep") from None
    except ValueError as error:
        reason = error.args[0] if isinstance(error, _NotJsonError) else "the body is not JSON"
        raise McpError(ErrorCode.PARSE_ERROR, reason) from None
    if body.count(b"[") + body.count(b"{") > DEPTH_MAX and _is_nested_deeper(body, DEPTH_MAX):
        raise McpError(ErrorCode.PARSE_ERROR, f"the body is nested more than {DEPTH_MAX} deep")
    if isinstance(message, list):
        raise McpError(ErrorCode.INVALID_REQUEST, "batches are not served: send one message for each request")
    if not isinstance(message, dict):
        raise McpError(ErrorCode.INVALID_REQUEST, "the body must be one JSON-RPC message, an object")
    return message


def _has_more_values(body: bytes, most: int) -> bool:
    """Say whether a JSON text has more than `most` values: each of them follows one of three signs outside of every string."""
    if sum(map(body.count, _SIGNS)) < most:
        return False
    bare = _STRING.sub(b"", body)
    return 1 + sum(map(bare.count, _SIGNS)) > most


def _is_nested_deeper(body: bytes, depth: int) -> bool:
    """Say whether the values of a JSON text are nested more than `depth` deep. Hostile texts take milliseconds."""
    brackets = _STRING.sub(b"", body).translate(_ROUND, _NO_BRACKETS)
    for _ in range(depth):
        if not brackets:
            return False
        brackets = brackets.replace(b"()", b"")  # the innermost level of all
    return bool(brackets)


class _NotJsonError(ValueError):
    """A value that no JSON of this protocol has."""


def _join_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    joined = dict(pairs)
    if len(joined) != len(pairs):
        raise _NotJsonError("the body has a name twice in one object")
    return joined


def _refuse_constant(_: str) -> NoReturn:
    raise _NotJsonError("the body has a number that JSON does not have")


def _parse_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _NotJsonError("the body has a number that is too large")
    return value


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
