"""The tools of MCP servers that an agent's people accepted, as one function."""

from ferryman.serving import mcp_tool

main = mcp_tool.serve()
