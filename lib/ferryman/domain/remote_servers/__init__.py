"""MCP servers of agents: what is stored of a server and its tools, and the rules by which a listing changes them."""
