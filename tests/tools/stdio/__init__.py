"""MCP servers that are processes of this machine."""
