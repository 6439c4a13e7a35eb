"""The four built-in tools (S0-1) in the order the model sees them, each a file with its definition and its parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ferryman.domain.http.request import OutboundRequest
from ferryman.domain.tools.tool import Tool
from ferryman.tools.http import api_call, http_get, http_post, webhook

TOOLS: tuple[Tool, ...] = (api_call.TOOL, http_get.TOOL, http_post.TOOL, webhook.TOOL)

PARSERS: Mapping[str, Callable[[Mapping[str, Any]], OutboundRequest]] = {
    api_call.TOOL.name: api_call.parse_request,
    http_get.TOOL.name: http_get.parse_request,
    http_post.TOOL.name: http_post.parse_request,
    webhook.TOOL.name: webhook.parse_request,
}
"""Parsers of each tool's arguments into an `OutboundRequest`; they raise `CallRefusedError`."""
