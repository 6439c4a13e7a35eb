"""The root of mcp_tool: a tool function that calls the tools of MCP servers."""

from __future__ import annotations

from ferryman.composition.tool import ToolFunction
from ferryman.settings import Settings


class McpToolFunction(ToolFunction):
    """What mcp_tool is made of beyond every tool function."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
