"""The root of mcp_tool: a tool function that calls the tools of MCP servers, with their credentials and their pins."""

from __future__ import annotations

from dataclasses import replace

from ferryman.composition.tool import ToolFunction
from ferryman.gcp.remote_servers import FirestoreRemoteServers
from ferryman.settings import Settings
from ferryman.tools.mcp.connecting import ServerConnecting
from ferryman.tools.mcp.contacting import RemoteCallDependencies
from ferryman.tools.mcp.preparing import make_remote_preparer


class McpToolFunction(ToolFunction):
    """What mcp_tool is made of beyond every tool function: `remote` is what calling MCP servers needs."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        servers = FirestoreRemoteServers(self.firestore)
        self.remote = RemoteCallDependencies(tools=self.dependencies, servers=servers, gate=self.gate)
        self.dependencies = replace(self.dependencies, prepare=make_remote_preparer(self.remote))
        self.connecting = ServerConnecting(deps=self.dependencies, servers=servers, gate=self.gate)
