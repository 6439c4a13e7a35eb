"""Examples of what the routes of MCP servers answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel

from ferryman.domain.remote_servers.pin import PinState
from ferryman.domain.remote_servers.server import ServerAuth, ServerState
from ferryman.serving.api.shapes import remote_server as shapes
from ferryman.serving.api.shapes import server_connection as connections

SERVER = "mcp_5b1f0c9d7e2a4836b5d4c3f2e1a099"
ACCEPTED, LISTED = "3f1c9a0b5d7e2846" * 4, "c1b3a5f7e9d0c2b4" * 4


def build_server_answers(agent: str, at: datetime) -> Mapping[str, BaseModel]:
    """Return the answers of the routes of MCP servers of `agent`, by operation."""
    server = shapes.RemoteServerResponse(
        server_id=SERVER,
        agent_id=agent,
        name="books",
        url="https://mcp.books.example/mcp",
        auth=ServerAuth.HEADERS,
        headers={"X-Api-Key": "BOOKS_KEY"},
        enabled=True,
        state=ServerState.LISTED,
        detail="",
        title="Books",
        version="2.1.0",
        instructions="",
        revision="2026-07-28",
        issuer=None,
        tools={PinState.ACCEPTED: 4, PinState.CHANGED: 1},
        listed_at=at,
        verified_at=at,
        created_at=at,
        updated_at=at,
    )
    schema: dict[str, Any] = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    tool = shapes.RemoteToolResponse(
        config=shapes.RemoteToolConfig(server_id=SERVER, tool_name="search"),
        name="books__search",
        state=PinState.CHANGED,
        reason=None,
        digest=LISTED,
        accepted_digest=ACCEPTED,
        accepted_at=at,
        title="Search",
        description="Find books by their title or author.",
        input_schema=schema,
        annotations={"readOnlyHint": True},
        model_description="Find books by their title or author.",
        tokens=41,
        difference=(
            shapes.FieldDifferenceResponse(
                field="description", before="Find books by their title.", after="Find books by their title or author."
            ),
        ),
    )
    operations = ("createMcpServer", "getMcpServer", "changeMcpServer", "acceptMcpTools", "refreshMcpServer")
    return {
        **dict.fromkeys(operations, server),
        "listMcpServers": shapes.RemoteServerList(servers=(server,), next=None),
        "listMcpTools": shapes.RemoteToolList(data=(tool,), next=None),
        "beginServerConnection": connections.ServerConnectionResponse(
            authorize_url="https://login.example.com/authorize?client_id=an-app-key&response_type=code",
            redirect_uri="http://127.0.0.1:8400/callback/mcp",
            state="r1c0v2ZpQq3mYb5tXn8sKw7uHa4dLe6fGi9jOo0PzTk",
            expires_at=at + timedelta(minutes=10),
            issuer="https://login.example.com",
            resource="https://tracker.example.com/mcp",
            client_id="https://ferryman.example.com/oauth/client.json",
            scopes=("issues.read",),
        ),
        "finishServerConnection": connections.ConnectedServer(
            server_id="mcp_3f8a7c1d09b2e4a6f5c8d7e6b1a203",
            name="tracker",
            issuer="https://login.example.com",
            resource="https://tracker.example.com/mcp",
            scopes=("issues.read",),
            token_expires_at=at + timedelta(hours=1),
        ),
    }
