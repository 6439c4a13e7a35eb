"""Answers: what a result or an error is in JSON-RPC, as the request's revision has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.mcp_revisions import SERVER_INFO
from ferryman.ports.errors import UnavailableError
from ferryman.serving.mcp.errors import McpError, refuse_http
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.results import CACHEABLE, Complete, InputRequired, Result, TaskCreated
from ferryman.serving.mcp.server import McpServer, hide_error

MEDIA_TYPE = "application/json"
TAKES_INPUT = frozenset(("tools/call", "resources/read", "prompts/get"))
"""Methods whose result may be that input is required."""

_CAPABILITY = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
"""The client's capability that each request for input needs."""


def write_message(message: Mapping[str, Any]) -> str:
    """Return `message` as one line of JSON, only ASCII. Raise ValueError for a number that JSON does not have."""
    return json.dumps(message, allow_nan=False, separators=(",", ":"))


def build_result(server: McpServer, exchange: McpExchange, result: Result) -> dict[str, Any]:
    """Return the member `result`. Raise `McpError` where the client cannot take it: -32021, and -32042 in 2025."""
    if not exchange.is_modern:
        return _build_legacy_result(exchange, result)
    if isinstance(result, Complete):
        built = {**result.content, "resultType": "complete"}
        if exchange.method in CACHEABLE:
            built |= {"ttlMs": max(0, result.ttl_ms), "cacheScope": result.scope}
            if exchange.input_responses or exchange.request_state is not None:
                built |= {"ttlMs": 0, "cacheScope": "private"}  # it depends on more than what a cache keeps it under
    elif isinstance(result, InputRequired):
        built = _build_input_required(exchange, result)
    else:
        exchange.require_tasks()
        if exchange.method != "tools/call":
            raise ValueError(f"{exchange.method} does not create tasks")
        built = {**result.task, "resultType": "task"}
    built["_meta"] = {SERVER_INFO: server.describe(), **built.get("_meta", {})}
    return built


def _build_input_required(exchange: McpExchange, result: InputRequired) -> dict[str, Any]:
    if exchange.method not in TAKES_INPUT:
        raise ValueError(f"{exchange.method} requires no input")
    if not result.requests and result.state is None:
        raise ValueError("what requires input has requests or a state")
    check_requests(exchange, result.requests)
    built: dict[str, Any] = {"resultType": "input_required"}
    if result.requests:
        built["inputRequests"] = {key: dict(asking) for key, asking in result.requests.items()}
    if result.state is not None:
        built["requestState"] = result.state
    return built


def check_requests(exchange: McpExchange, requests: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise `McpError` with -32021 for a request for input that the client did not declare."""
    for asking in requests.values():
        name = _CAPABILITY[asking["method"]]
        mode = asking.get("params", {}).get("mode", "form") if name == "elicitation" else ""
        exchange.require(name, mode)


def _build_legacy_result(exchange: McpExchange, result: Result) -> dict[str, Any]:
    if isinstance(result, Complete):
        return dict(result.content)
    if isinstance(result, TaskCreated):
        raise ValueError("there are no tasks in this revision")
    check_requests(exchange, result.requests)
    elicitations = []
    for key, asking in result.requests.items():
        params = asking.get("params", {})
        if asking["method"] != "elicitation/create" or params.get("mode") != "url":
            raise ValueError("only a page to visit can be required in this revision")
        elicitations.append({"elicitationId": key, **params})
    message = "a person has to visit a page before this request can be completed"
    raise McpError(ErrorCode.URL_ELICITATION_REQUIRED, message, {"elicitations": elicitations})


def build_error(error: McpError, id: str | int | None) -> dict[str, Any]:  # noqa: A002 - the protocol's word
    """Return the message of an error; `id` is None where the request's could not be read."""
    return {"jsonrpc": "2.0", **({} if id is None else {"id": id}), "error": error.to_error()}


def write_error(error: McpError, id: str | int | None, *, status: int | None = None) -> Response:  # noqa: A002 - as above
    """Return the HTTP response of an error, with its own status or the one that is named."""
    content = write_message(build_error(error, id))
    return Response(content, status_code=status or error.status, media_type=MEDIA_TYPE, headers=error.headers)


def explain(server: McpServer, error: Exception, exchange: McpExchange | None) -> McpError:
    """Return what the client learns of `error`."""
    if isinstance(error, McpError):
        return error
    if isinstance(error, HTTPException):
        return refuse_http(error.status_code, error.detail, error.headers)
    if isinstance(error, UnavailableError):
        after = {} if error.after_s is None else {"Retry-After": str(max(1, round(error.after_s)))}
        return refuse_http(503, str(error), after)
    try:
        return server.translate(error, exchange)
    except Exception:  # noqa: BLE001 - whatever it is, the client is answered
        return hide_error(error, exchange)
