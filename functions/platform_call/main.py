"""Calls of the platform's own MCP server, signed and sent on, as a function: no key of any task, no model."""

from ferryman.serving import platform_call

main = platform_call.serve()
