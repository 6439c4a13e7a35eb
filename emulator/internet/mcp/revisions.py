"""Revisions: names, codes and members that the two revisions of the protocol have."""

from __future__ import annotations

MODERN, LEGACY = "2026-07-28", "2025-11-25"
REVISIONS = (MODERN, LEGACY)

META = "io.modelcontextprotocol/"
TASKS = "io.modelcontextprotocol/tasks"
VERSION, CLIENT, CAPABILITIES = f"{META}protocolVersion", f"{META}clientInfo", f"{META}clientCapabilities"

PARSE, INVALID, UNKNOWN_METHOD, PARAMS = -32700, -32600, -32601, -32602
HEADERS_DIFFER, CAPABILITY_MISSING, VERSION_UNKNOWN = -32020, -32021, -32022

NAMED = {
    "tools/call": "name",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""The parameter that the header Mcp-Name repeats, by method."""
