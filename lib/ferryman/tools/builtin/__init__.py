"""The four built-in tools (S0-1), in the order the model sees them, each a file with its definition and its reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ferryman.domain.http import Outbound
from ferryman.domain.tool import Tool
from ferryman.tools.builtin import api_call, http_get, http_post, webhook

TOOLS: tuple[Tool, ...] = (api_call.TOOL, http_get.TOOL, http_post.TOOL, webhook.TOOL)

READERS: Mapping[str, Callable[[Mapping[str, Any]], Outbound]] = {
    api_call.TOOL.name: api_call.read,
    http_get.TOOL.name: http_get.read,
    http_post.TOOL.name: http_post.read,
    webhook.TOOL.name: webhook.read,
}
"""How each tool's arguments become an `Outbound`; raises `Refused`."""
