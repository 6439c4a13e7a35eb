"""Requests of 2025: they begin with `initialize`, whose session, a signed text, the client repeats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers

from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.mcp_revisions import LEGACY, SESSION_HEADER, VERSION_HEADER
from ferryman.serving.mcp.errors import McpError, refuse_params
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.headers import get_header
from ferryman.serving.mcp.modern import read_progress_token, refuse_version
from ferryman.serving.mcp.results import Complete, Result
from ferryman.serving.mcp.server import McpServer, Method
from ferryman.serving.mcp.sessions import Session, read_session


async def find_session(server: McpServer, principal: str, headers: Headers) -> Session:
    """Return the session of a request. Raise `McpError`: 400 without one, 404 for one that is not valid."""
    version = get_header(headers, VERSION_HEADER)
    if version is not None and version not in LEGACY:
        raise refuse_version(version)
    text = get_header(headers, SESSION_HEADER)
    if server.session_keys is None and version is not None:
        return Session("", version, {}, {})
    if text is None:
        message = "send MCP-Protocol-Version and its metadata, or begin with initialize and repeat its Mcp-Session-Id"
        raise McpError(ErrorCode.INVALID_REQUEST, message, status=400)
    session = await read_session(server, principal, text)
    if version is not None and version != session.revision:
        raise McpError(ErrorCode.INVALID_REQUEST, "MCP-Protocol-Version is not the version of this session", status=400)
    return session


def build_exchange(server: McpServer, caller: Any, session: Session, message: Mapping[str, Any]) -> McpExchange:
    """Return the exchange of a request. Raise `McpError` with -32602 for metadata of the wrong types."""
    params = message.get("params", {})
    meta = params.get("_meta", {})
    if not isinstance(meta, Mapping):
        raise refuse_params("params._meta must be an object")
    return McpExchange(
        caller=caller,
        principal=server.principal(caller),
        id=message["id"],
        method=message["method"],
        params=params,
        revision=session.revision,
        client_info=session.client_info,
        capabilities=session.capabilities,
        session=session.id,
        progress_token=read_progress_token(meta),
    )


def find_method(server: McpServer, exchange: McpExchange) -> Method:
    """Return what answers the request. Raise `McpError` with -32601 for an unknown method."""
    name = exchange.method
    if name == "ping":
        return ping
    method = server.legacy_methods.get(name)
    if method is None and not name.startswith("tasks/"):
        method = server.methods.get(name)
    if method is None:
        raise McpError(ErrorCode.METHOD_NOT_FOUND, "Method not found")
    return method


async def ping(_: McpExchange) -> Result:
    """Return the empty result of ping."""
    return Complete()


def initialize(server: McpServer, params: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the revision that is spoken from now on, and the result of initialize.

    Raise `McpError` with -32602 for parameters of the wrong types.
    """
    version = params.get("protocolVersion")
    if not isinstance(version, str):
        raise refuse_params("protocolVersion must be a text")
    for name in ("capabilities", "clientInfo"):
        if not isinstance(params.get(name), Mapping):
            raise refuse_params(f"{name} must be an object")
    revision = version if version in LEGACY else LEGACY[0]
    result = {"protocolVersion": revision, "capabilities": _select_capabilities(server), "serverInfo": server.describe()}
    if server.instructions:
        result["instructions"] = server.instructions
    return revision, result


def _select_capabilities(server: McpServer) -> dict[str, Any]:
    """Return the capabilities for clients of 2025: no extensions, and nothing that needs a stream without a request."""
    if server.legacy_capabilities is not None:
        return dict(server.legacy_capabilities)
    return {
        name: {mode: value for mode, value in modes.items() if mode not in ("listChanged", "subscribe")}
        for name, modes in server.capabilities.items()
        if name != "extensions" and isinstance(modes, Mapping)
    }
