"""A lister of MCP servers as the API sees it: what each lists is what a test says; it is judged and stored as it always is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.remote_servers.server import ServerInfo, ServerState
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.remote_servers import MemoryRemoteServers
from ferryman.tools.mcp.listing import ServerListing, note_failure, store_listing

UNREACHABLE = "nothing answers there; try again: ferryman mcp refresh"


@dataclass
class StoringServerLister:
    """`ports.ServerLister`. `tools` are what each server lists, by its URL; one that is not there is unreachable."""

    memory: Memory
    clock: ManualClock
    tools: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    fails: Exception | None = None

    async def list_tools(self, server: str, *, owner: str) -> None:
        if self.fails is not None:
            raise self.fails
        servers = MemoryRemoteServers(self.memory)
        stored = await servers.get(server)
        assert stored is not None
        assert stored.owner == owner
        now = self.clock.now()
        if stored.url not in self.tools:
            await note_failure(servers, stored, ServerState.UNREACHABLE, UNREACHABLE, now=now)
            return
        listing = ServerListing(
            tools=[(tool["name"], tool) for tool in self.tools[stored.url]],
            info=ServerInfo(name="Books", version="2"),
            instructions="Ask for everything.",
            revision="2026-07-28",
        )
        await store_listing(servers, stored, listing, now=now)
