"""The tools that attempts are made with."""

from __future__ import annotations

from ferryman.catalog.tools import TOOLS

LEFT_OUT = ("wait_until", "import_openapi_tools", "webhook")
"""One ends the slice, one fetches a document over the wire, and one is for URLs that a task has registered."""


def list_tool_names() -> list[str]:
    """Return the tools that a task can enable here, all built in."""
    return [tool.name for tool in TOOLS.values() if tool.requires is None and tool.name not in LEFT_OUT]
