"""MCP servers that are processes of this machine, for embedded use alone: no function of a deployment imports this."""
