"""An MCP server as a host of the simulated internet: two revisions, a handful of tools, and rules that tests may change.

It is written from the specification and imports nothing of the product, so that no mistake of ours is repeated in what judges
our client. It is honest: servers that break the rules are in the campaigns.
"""

from emulator.internet.mcp.rules import McpRules, read_mcp_rules
from emulator.internet.mcp.server import SimulatedMcpServer

__all__ = ["McpRules", "SimulatedMcpServer", "read_mcp_rules"]
