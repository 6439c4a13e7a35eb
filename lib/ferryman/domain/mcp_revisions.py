"""Revisions of the protocol that are spoken, and the keys and headers that name them."""

from __future__ import annotations

MODERN = "2026-07-28"
"""The revision whose requests each bring their version, client and capabilities along."""

LEGACY = ("2025-11-25", "2025-06-18")
"""Revisions that begin with `initialize`; the first one is offered to a client that asks for another."""

SUPPORTED = (MODERN, *LEGACY)

_PREFIX = "io.modelcontextprotocol/"
PROTOCOL_VERSION = f"{_PREFIX}protocolVersion"
CLIENT_INFO = f"{_PREFIX}clientInfo"
CLIENT_CAPABILITIES = f"{_PREFIX}clientCapabilities"
LOG_LEVEL = f"{_PREFIX}logLevel"
SERVER_INFO = f"{_PREFIX}serverInfo"
SUBSCRIPTION_ID = f"{_PREFIX}subscriptionId"
TASKS = f"{_PREFIX}tasks"
"""The Tasks extension, in the capabilities of both sides."""

VERSION_HEADER = "mcp-protocol-version"
SESSION_HEADER = "mcp-session-id"
METHOD_HEADER = "mcp-method"
NAME_HEADER = "mcp-name"
