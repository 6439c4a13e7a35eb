"""MCP servers of agents, as tests store them."""

from __future__ import annotations

from typing import Any

from ferryman.domain.remote_servers.server import RemoteServer, ServerAuth
from ferryman.inmemory.clock import START

URL = "https://tools.example.com/mcp"
DIGEST = "1" * 64


def build_server(**change: Any) -> RemoteServer:
    """Return a server that is authorized by OAuth, and was not connected yet."""
    fields: dict[str, Any] = {
        "id": "mcp_1",
        "owner": "ann",
        "workspace": "ws",
        "agent": "agent",
        "name": "tracker",
        "url": URL,
        "auth": ServerAuth.OAUTH,
        "created_at": START,
        "updated_at": START,
    }
    return RemoteServer(**{**fields, **change})
