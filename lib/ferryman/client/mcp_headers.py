"""The headers of a message at /mcp that repeat parts of it, as the revision 2026-07-28 has them; 2025 has a session instead."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ferryman.domain.mcp_headers import BASE64_CLOSING, BASE64_OPENING, NAMED_BY, find_annotations, get_argument

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_PLAIN = re.compile(r"[!-~]([ -~]*[!-~])?")
_LABEL = re.compile(r"[A-Za-z0-9_-]{1,64}")


def encode_value(value: str) -> str:
    """Return `value` as a header may have it: as it is, or as Base64 of UTF-8 between the two signs of that."""
    if _PLAIN.fullmatch(value) and not value.startswith(BASE64_OPENING):
        return value
    return f"{BASE64_OPENING}{base64.b64encode(value.encode(errors='replace')).decode()}{BASE64_CLOSING}"


def find_version(message: Mapping[str, Any]) -> str | None:
    """Return the revision that the message itself names; None for one of 2025, which does not."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    version = meta.get(VERSION_KEY) if isinstance(meta, Mapping) else None
    return version if isinstance(version, str) else None


def build_message_headers(
    message: Mapping[str, Any], version: str, parameters: Mapping[str, Mapping[str, tuple[str, ...]]]
) -> dict[str, str]:
    """Return the headers of a message of 2026-07-28 or later; `parameters` has the annotated arguments of tools, by name."""
    method, params = message.get("method"), message.get("params")
    if not isinstance(method, str) or not isinstance(params, Mapping):
        return {}
    headers = {"MCP-Protocol-Version": encode_value(version), "Mcp-Method": encode_value(method)}
    name = params.get(NAMED_BY.get(method, ""))
    if isinstance(name, str):
        headers["Mcp-Name"] = encode_value(name)
    if method == "tools/call" and isinstance(name, str):
        for label, path in parameters.get(name, {}).items():
            value = get_argument(params.get("arguments"), path)
            if isinstance(value, str | int | float):
                headers[f"Mcp-Param-{label}"] = encode_value(_write(value))
    return headers


def read_parameters(result: Any) -> Iterator[tuple[str, dict[str, tuple[str, ...]]]]:
    """Yield, for each tool of a result of tools/list, the labels of its annotated arguments with the path to each."""
    tools = result.get("tools") if isinstance(result, Mapping) else None
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, Mapping) and isinstance(tool.get("name"), str):
            annotations = find_annotations(tool.get("inputSchema"))
            yield tool["name"], {label: path for label, path in annotations if _LABEL.fullmatch(label)}


def _write(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
