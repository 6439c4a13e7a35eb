"""An MCP server as a host of the simulated internet: two revisions, a handful of tools, and rules that tests may change."""

from emulator.internet.mcp.rules import McpRules, read_mcp_rules
from emulator.internet.mcp.server import SimulatedMcpServer

__all__ = ["McpRules", "SimulatedMcpServer", "read_mcp_rules"]
