"""MCP servers of others: the protocol, authorization, and calls through the gate."""
