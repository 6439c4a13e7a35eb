"""The MCP servers of agents in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.remote_servers.server import LISTED_FIELDS, SERVERS_PER_AGENT_MAX, RemoteServer
from ferryman.domain.remote_servers.server_names import check_server_name
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.agent import AgentGoneError
from ferryman.inmemory import keyed
from ferryman.inmemory.agents import MemoryAgents
from ferryman.inmemory.credentials import MCP_SERVERS
from ferryman.inmemory.memory import MemoryStore
from ferryman.inmemory.workspaces import check_workspace


class MemoryRemoteServers(MemoryStore):
    """`ports.RemoteServers`."""

    async def list(self, agent: str, *, owner: str, workspace: str) -> Sequence[RemoteServer]:
        place = (owner, workspace, agent)
        stored = self._memory.mcp_servers.values()
        servers = [server for server in stored if (server.owner, server.workspace, server.agent) == place]
        return sorted(servers, key=lambda server: server.name)

    async def get(self, server: str) -> RemoteServer | None:
        return self._memory.mcp_servers.get(server)

    async def find(self, agent: str, name: str, *, owner: str, workspace: str) -> RemoteServer | None:
        servers = await self.list(agent, owner=owner, workspace=workspace)
        return next((server for server in servers if server.name == name), None)

    async def create(self, server: RemoteServer, *, most: int = SERVERS_PER_AGENT_MAX, done: Completion | None = None) -> None:
        keyed.check_completion(self._memory, done)
        stored = self._memory.mcp_servers.get(server.id)
        if stored is not None:
            if (stored.owner, stored.created_at) == (server.owner, server.created_at):
                return
            raise ValueError("the server exists already")
        check_workspace(self._memory, server.workspace, owner=server.owner)
        agents = MemoryAgents(self._memory)
        if await agents.get(server.agent, owner=server.owner, workspace=server.workspace) is None:
            raise AgentGoneError
        others = await self.list(server.agent, owner=server.owner, workspace=server.workspace)
        check_server_name(server.name, (other.name for other in others))
        check_limit(len(others), most, of="MCP servers", owner="an agent")
        self._memory.mcp_servers[server.id] = server
        keyed.store_completion(self._memory, done)

    async def update(self, server: RemoteServer, fields: Collection[str], *, since: int) -> RemoteServer:
        stored = self._memory.mcp_servers.get(server.id)
        if stored is None or stored.generation != since:
            raise StaleError("the MCP server was changed by somebody else, or deleted")
        change: dict[str, Any] = {name: getattr(server, name) for name in (*fields, "updated_at")}
        changed = replace(stored, **change, generation=since + 1)
        self._memory.mcp_servers[server.id] = changed
        return changed

    async def put_listing(self, server: RemoteServer, descriptors: Mapping[str, str], *, since: int) -> RemoteServer:
        changed = await self.update(server, LISTED_FIELDS, since=since)
        self._memory.mcp_descriptors[server.id] = dict(descriptors)
        return changed

    async def delete(self, server: str) -> bool:
        memory = self._memory
        memory.mcp_descriptors.pop(server, None)
        stored: tuple[dict[str, Any], ...] = (memory.credentials, memory.connections, memory.former, memory.versions)
        for below in stored:
            below.pop(f"{MCP_SERVERS}/{server}", None)
        return memory.mcp_servers.pop(server, None) is not None

    async def list_versions(self, agent: str, *, owner: str, workspace: str) -> Mapping[str, Mapping[str, int]]:
        servers = await self.list(agent, owner=owner, workspace=workspace)
        return {server.id: dict(self._memory.versions.get(f"{MCP_SERVERS}/{server.id}", {})) for server in servers}

    async def descriptors(self, server: str, digests: Collection[str]) -> Mapping[str, str]:
        stored = self._memory.mcp_descriptors.get(server, {})
        return {digest: stored[digest] for digest in digests if digest in stored}
