"""Requests of 2026-07-28: each brings its version, client and capabilities along, and headers that repeat parts of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers

from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.mcp_revisions import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LOG_LEVEL,
    MODERN,
    PROTOCOL_VERSION,
    SUPPORTED,
    VERSION_HEADER,
)
from ferryman.serving.mcp.errors import McpError, refuse_params
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.headers import check_method, check_name, check_parameters, get_header, refuse_header
from ferryman.serving.mcp.reading import ID_CHARACTERS_MAX, read_id
from ferryman.serving.mcp.results import Complete, Result
from ferryman.serving.mcp.server import McpServer, Method

INPUTS_MAX = 64
"""Responses to input requests that a retry may have."""

DISCOVER_TTL_MS = 300_000
LISTEN = "subscriptions/listen"
_LOG_LEVELS = frozenset(("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"))


def refuse_version(version: str) -> McpError:
    """Return the error of a version that is not spoken: -32022, with those that are."""
    data = {"supported": list(SUPPORTED), "requested": version[:64]}
    return McpError(ErrorCode.UNSUPPORTED_VERSION, "this version of the protocol is not spoken here", data)


def check_version(headers: Headers, meta: Mapping[str, Any]) -> None:
    """Raise `McpError`: -32020 where header and body disagree, -32602 where the body names none, -32022 for another one."""
    header, declared = get_header(headers, VERSION_HEADER), meta.get(PROTOCOL_VERSION)
    if not isinstance(declared, str):
        if header is not None and header not in SUPPORTED:
            raise refuse_version(header)
        raise refuse_params(f"params._meta must have {PROTOCOL_VERSION}, a text")
    if header is None:
        raise refuse_header("the header MCP-Protocol-Version is missing")
    if header != declared:
        raise refuse_header("MCP-Protocol-Version is not the version of the body")
    if declared != MODERN:
        raise refuse_version(declared)


def build_exchange(server: McpServer, caller: Any, headers: Headers, message: Mapping[str, Any]) -> McpExchange:
    """Return the exchange of a request. Raise `McpError` where its metadata are wrong or its headers say something else."""
    params = message.get("params", {})
    meta = params.get("_meta", {})
    if not isinstance(meta, Mapping):
        raise refuse_params("params._meta must be an object")
    check_version(headers, meta)
    capabilities, info, level = meta.get(CLIENT_CAPABILITIES), meta.get(CLIENT_INFO, {}), meta.get(LOG_LEVEL)
    if not isinstance(capabilities, Mapping):
        raise refuse_params(f"params._meta must have {CLIENT_CAPABILITIES}, an object")
    if not isinstance(info, Mapping):
        raise refuse_params(f"{CLIENT_INFO} must be an object")
    if level is not None and level not in _LOG_LEVELS:
        raise refuse_params(f"{LOG_LEVEL} must be one of {', '.join(sorted(_LOG_LEVELS))}")
    check_method(headers, message["method"])
    return McpExchange(
        caller=caller,
        principal=server.principal(caller),
        id=message["id"],
        method=message["method"],
        params=params,
        client_info=info,
        capabilities=capabilities,
        log_level=level,
        progress_token=read_progress_token(meta),
        input_responses=_read_inputs(params),
        request_state=_read_state(params),
    )


def read_progress_token(meta: Mapping[str, Any]) -> str | int | None:
    """Return the token under which the client asks for progress: it is repeated with each report. Raise `McpError` with -32602
    for any other value than may be an id."""
    token = meta.get("progressToken")
    if token is not None and read_id({"id": token}) is None:
        raise refuse_params(
            f"progressToken must be a text of at most {ID_CHARACTERS_MAX:,} characters or an integer of at most 53 bits"
        )
    return token


def _read_inputs(params: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    inputs = params.get("inputResponses", {})
    if not isinstance(inputs, Mapping) or len(inputs) > INPUTS_MAX:
        raise refuse_params(f"inputResponses must be an object of at most {INPUTS_MAX} members")
    if not all(isinstance(response, Mapping) for response in inputs.values()):
        raise refuse_params("inputResponses must have an object for each key")
    return inputs


def _read_state(params: Mapping[str, Any]) -> str | None:
    state = params.get("requestState")
    if state is not None and not isinstance(state, str):
        raise refuse_params("requestState must be a text")
    return state


def find_method(server: McpServer, exchange: McpExchange) -> Method:
    """Return what answers the request. Raise `McpError`: -32601 for an unknown method, -32021 for tasks/* of a client that does
    not declare them."""
    name = exchange.method
    if name == "server/discover":
        return lambda _: discover(server)
    method = server.methods.get(name)
    if method is None:
        raise McpError(ErrorCode.METHOD_NOT_FOUND, "Method not found")
    if name.startswith("tasks/"):
        exchange.require_tasks()
    return method


async def discover(server: McpServer) -> Result:
    """Return the result of server/discover."""
    content: dict[str, Any] = {"supportedVersions": list(SUPPORTED), "capabilities": dict(server.capabilities)}
    if server.instructions:
        content["instructions"] = server.instructions
    return Complete(content, ttl_ms=DISCOVER_TTL_MS, scope="public")


async def check_headers(server: McpServer, headers: Headers, exchange: McpExchange) -> None:
    """Raise `McpError` with -32020 unless `Mcp-Name` and every `Mcp-Param-*` repeat what the body has."""
    check_name(headers, exchange.method, exchange.params)
    name = exchange.params.get("name")
    if exchange.method == "tools/call" and server.find_schema is not None and isinstance(name, str):
        schema = await server.find_schema(exchange, name)
        arguments = exchange.params.get("arguments")
        if schema is not None:
            check_parameters(headers, schema, arguments if isinstance(arguments, Mapping) else {})
