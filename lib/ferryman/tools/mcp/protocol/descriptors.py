"""Descriptors of tools as a server lists them: which can be used, and why others cannot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ferryman.tools.mcp.protocol.bounds import DESCRIPTOR_BYTES_MAX, NAME_CHARACTERS_MAX
from ferryman.tools.mcp.protocol.headers import InvalidAnnotationError, ParameterHeader, read_parameter_headers


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDescriptor:
    """A tool as its server describes it, in a stranger's words; `raw` is all that the server sent of it.

    `headers` are those that repeat arguments. Of `annotations` nothing decides anything.
    """

    name: str
    raw: Mapping[str, Any] = field(repr=False)
    title: str = field(default="", repr=False)
    description: str = field(default="", repr=False)
    input_schema: Mapping[str, Any] = field(repr=False)
    output_schema: Mapping[str, Any] | None = field(default=None, repr=False)
    annotations: Mapping[str, Any] = field(default_factory=dict, repr=False)
    headers: tuple[ParameterHeader, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class RefusedTool:
    """A tool that cannot be used; the reason is our own sentence. The name is a stranger's, "" where it has none."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerToolListing:
    """All tools of a server, in its order; `ttl_ms` is for how long it says that the listing is good."""

    tools: tuple[ToolDescriptor, ...]
    refused: tuple[RefusedTool, ...] = ()
    ttl_ms: int = 0


class UnusableToolError(ValueError):
    """A tool that cannot be used; the text says why, and is our own."""


def read_descriptor(raw: Any) -> ToolDescriptor:
    """Return the descriptor in `raw`, one member of a listing. Raise `UnusableToolError`."""
    if not isinstance(raw, Mapping):
        raise UnusableToolError("it is not an object")
    name = raw.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= NAME_CHARACTERS_MAX or not name.isprintable():
        raise UnusableToolError(f"its name must be a text of 1 to {NAME_CHARACTERS_MAX} printable characters")
    if len(json.dumps(raw, ensure_ascii=False, separators=(",", ":")).encode()) > DESCRIPTOR_BYTES_MAX:
        raise UnusableToolError(f"it has more than {DESCRIPTOR_BYTES_MAX:,} bytes")
    annotations = _get(raw, "annotations", Mapping, "an object", {})
    title = _get(raw, "title", str, "a text", "") or _get(annotations, "title", str, "a text", "")
    schema = _get(raw, "inputSchema", Mapping, "an object", None)
    if schema is None or schema.get("type") != "object":
        raise UnusableToolError("its inputSchema must be a schema of the type object")
    try:
        headers = read_parameter_headers(schema)
    except InvalidAnnotationError as invalid:
        raise UnusableToolError(str(invalid)) from None
    return ToolDescriptor(
        name=name,
        raw=raw,
        title=title,
        description=_get(raw, "description", str, "a text", ""),
        input_schema=schema,
        output_schema=_get(raw, "outputSchema", Mapping, "an object", None),
        annotations=annotations,
        headers=headers,
    )


def read_descriptors(tools: Sequence[Any]) -> tuple[list[ToolDescriptor], list[RefusedTool]]:
    """Return the tools that can be used, and those that cannot; a function for worker processes."""
    usable, refused = list[ToolDescriptor](), list[RefusedTool]()
    for raw in tools:
        try:
            usable.append(read_descriptor(raw))
        except UnusableToolError as unusable:
            name = raw.get("name") if isinstance(raw, Mapping) else None
            refused.append(RefusedTool(name[:NAME_CHARACTERS_MAX] if isinstance(name, str) else "", str(unusable)))
    return usable, refused


def refuse_repeated_names(tools: Sequence[ToolDescriptor], refused: Sequence[RefusedTool], *, ttl_ms: int) -> ServerToolListing:
    """Return the listing without tools whose name comes more than once: nobody could say which of them is called."""
    counts: dict[str, int] = {}
    for tool in tools:
        counts[tool.name] = counts.get(tool.name, 0) + 1
    repeated = [
        RefusedTool(name, "its name comes more than once in the listing") for name, count in counts.items() if count > 1
    ]
    unique = tuple(tool for tool in tools if counts[tool.name] == 1)
    return ServerToolListing(tools=unique, refused=(*refused, *repeated), ttl_ms=ttl_ms)


def _get(outer: Mapping[str, Any], name: str, kind: Any, what: str, absent: Any) -> Any:
    value = outer.get(name, absent)
    if value is absent or isinstance(value, kind):
        return value
    raise UnusableToolError(f"its {name} must be {what}")
