"""The platform's own MCP server for the runtime, as a function: no key of any task, no model."""

from ferryman.serving import platform

main = platform.serve()
