"""Network policies: which hosts the calls of a tool may reach."""

from __future__ import annotations

from enum import StrEnum


class NetworkPolicy(StrEnum):
    """Where the calls of a tool may go; always over HTTPS to public addresses, unless a policy says otherwise."""

    REGISTRY = "registry"
    """The domains of the integrations that the task is approved for (S0-77)."""
    WEBHOOK_LIST = "webhook_list"
    """The webhook URLs that the task has registered, and nothing else (S0-58)."""
    DECLARED_HOST = "declared_host"
    """The host that the tool's declaration names, which must be an approved domain, too (S1-9)."""
    PUBLIC_ANY = "public_any"
    """Any public address."""
    OPERATOR_ENDPOINT = "operator_endpoint"
    """The endpoint that the operator configured, which may be private; no argument changes it."""
    MCP_SERVER = "mcp_server"
    """The URL of the agent's MCP server, and those that its authorization was pinned to; no argument changes it."""
    NONE = "none"
    """Nowhere."""
