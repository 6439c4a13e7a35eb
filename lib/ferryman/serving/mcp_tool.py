"""mcp_tool as a function: what every tool function does, and routes for the API, which reaches no MCP server itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ferryman.serving import tool
from ferryman.serving.entry import Handler
from ferryman.settings import Settings

if TYPE_CHECKING:
    from ferryman.composition.mcp_tool import McpToolFunction


def serve() -> Handler:
    """Return the `main` of mcp_tool."""
    return tool.serve_tool("mcp_tool", build_function, ROUTES)


def build_function(known: Settings) -> McpToolFunction:
    """Return what the function is made of."""
    from ferryman.composition.mcp_tool import McpToolFunction

    function = McpToolFunction(known)
    function.load()
    return function


ROUTES: Mapping[str, tool.Route[McpToolFunction]] = {}
"""The routes for the API, by path."""
