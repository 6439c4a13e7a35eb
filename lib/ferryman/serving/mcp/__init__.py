"""The Model Context Protocol over HTTP: an engine for servers of the revisions 2026-07-28 and 2025-11-25.

An application describes itself as an `McpServer`, and its route returns `await respond(server, request)`. A method gets an
`McpExchange` and returns a `Result`, or raises `McpError`. The engine knows no store: what an exchange needs is in its
request, so that any instance answers any of them.
"""

from __future__ import annotations

from ferryman.domain.mcp_codes import ErrorCode
from ferryman.serving.mcp.errors import McpError, refuse_capability, refuse_http, refuse_params
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.pages import paginate
from ferryman.serving.mcp.responding import respond
from ferryman.serving.mcp.results import Complete, InputRequired, Notification, Result, TaskCreated
from ferryman.serving.mcp.server import McpServer, Method, Subscription
from ferryman.serving.mcp.states import sign_state, verify_state

__all__ = [
    "Complete",
    "ErrorCode",
    "InputRequired",
    "McpError",
    "McpExchange",
    "McpServer",
    "Method",
    "Notification",
    "Result",
    "Subscription",
    "TaskCreated",
    "paginate",
    "refuse_capability",
    "refuse_http",
    "refuse_params",
    "respond",
    "sign_state",
    "verify_state",
]
