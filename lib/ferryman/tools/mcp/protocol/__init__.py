"""The Model Context Protocol, the client's side: messages, revisions, bounds. It knows no store, no gate and no policy.

One client speaks 2026-07-28 (pages versioning, tools, mrtr, and the extension Tasks) and, in sessions, 2025-11-25 and
2025-06-18 (lifecycle, transports). It works over any `Transport` that feeds an answer as it arrives: the gate's, and a local
process's. All bounds of what a server may send are in `bounds.py`, and an answer that breaks a rule is refused as a whole:
nothing of it is believed in part.
"""

from __future__ import annotations

from ferryman.tools.mcp.protocol.answer_reader import Progress
from ferryman.tools.mcp.protocol.client import McpClient
from ferryman.tools.mcp.protocol.descriptors import (
    RefusedTool,
    ServerToolListing,
    ToolDescriptor,
    UnusableToolError,
    read_descriptor,
)
from ferryman.tools.mcp.protocol.eras import ClientCapabilities
from ferryman.tools.mcp.protocol.errors import (
    AnswerLostError,
    AnswerTooLargeError,
    HttpStatusError,
    InvalidServerAnswerError,
    McpClientError,
    ServerError,
    SessionLostError,
    UnsupportedServerError,
    UnwritableArgumentError,
)
from ferryman.tools.mcp.protocol.rendering import render_completed, render_error, render_off_loop
from ferryman.tools.mcp.protocol.results import (
    CallOutcome,
    Completed,
    ContentBlock,
    ContentKind,
    Elicitation,
    NeedsInput,
    RemoteTask,
    RemoteTaskStatus,
    Started,
)
from ferryman.tools.mcp.protocol.sessions import SessionCache
from ferryman.tools.mcp.protocol.transport import HttpMessage, Transport

__all__ = [
    "AnswerLostError",
    "AnswerTooLargeError",
    "CallOutcome",
    "ClientCapabilities",
    "Completed",
    "ContentBlock",
    "ContentKind",
    "Elicitation",
    "HttpMessage",
    "HttpStatusError",
    "InvalidServerAnswerError",
    "McpClient",
    "McpClientError",
    "NeedsInput",
    "Progress",
    "RefusedTool",
    "RemoteTask",
    "RemoteTaskStatus",
    "ServerError",
    "ServerToolListing",
    "SessionCache",
    "SessionLostError",
    "Started",
    "ToolDescriptor",
    "Transport",
    "UnsupportedServerError",
    "UnusableToolError",
    "UnwritableArgumentError",
    "read_descriptor",
    "render_completed",
    "render_error",
    "render_off_loop",
]
