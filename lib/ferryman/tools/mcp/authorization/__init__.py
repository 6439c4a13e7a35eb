"""Authorization of an MCP server of others: discovery, registration, consent and renewal, each request through the gate."""
