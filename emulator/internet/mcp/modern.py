"""Headers of 2026-07-28: what they have to repeat of a message."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from starlette.requests import Request

from emulator.internet.mcp.messages import McpRefusedError, Message
from emulator.internet.mcp.revisions import HEADERS_DIFFER, MODERN, NAMED
from emulator.internet.mcp.rules import McpRules
from emulator.internet.mcp.tools import list_tools

OPENING, CLOSING = "=?base64?", "?="


def check_headers(request: Request, method: str, params: Message, rules: McpRules) -> None:
    """Raise McpRefusedError where a header is missing or differs from the body."""
    expected: dict[str, object] = {"mcp-protocol-version": MODERN, "mcp-method": method}
    if method in NAMED:
        expected["mcp-name"] = params.get(NAMED[method])
    if method == "tools/call":
        expected |= _list_parameters(params, rules)
    for name, value in expected.items():
        received = request.headers.get(name)
        if value is None and received is None:
            continue
        if received is None or _decode(received) != _write(value):
            raise McpRefusedError(HEADERS_DIFFER, f"the header {name} is missing or differs from the body")


def _list_parameters(params: Message, rules: McpRules) -> dict[str, object]:
    tool = next((tool for tool in list_tools(rules) if tool["name"] == params.get("name")), None)
    schema: Any = tool.get("inputSchema") if tool else None
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    arguments = params.get("arguments")
    arguments = arguments if isinstance(arguments, dict) else {}
    return {
        f"mcp-param-{inner['x-mcp-header']}".lower(): arguments.get(name)
        for name, inner in properties.items()
        if isinstance(inner, dict) and "x-mcp-header" in inner
    }


def _write(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _decode(text: str) -> str:
    if not (text.startswith(OPENING) and text.endswith(CLOSING)):
        return text
    try:
        return base64.b64decode(text[len(OPENING) : -len(CLOSING)], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return "\0"
