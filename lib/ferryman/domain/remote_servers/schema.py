"""The input schema of an MCP server's tool: local references are written out, within bounds, and others are not followed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

DEPTH_MAX = 32
PARTS_MAX = 5_000
"""The values in a schema with its references written out: what grows beyond them explodes."""

BYTES_MAX = 32_768
_LEFT_OUT = frozenset(("$schema", "$id", "$defs", "definitions", "$comment", "x-mcp-header"))
_NAMED = frozenset(("properties", "patternProperties", "dependentSchemas"))
_DATA = frozenset(("const", "default", "enum", "examples"))


class SchemaRefusedError(ValueError):
    """A schema is none that a model could be offered; the text says why."""


def write_out(schema: Any) -> dict[str, Any]:
    """Return a tool's input schema with the schemas of its references in their places, without what only names documents.

    A reference to a schema that it is in admits anything there. Raise `SchemaRefusedError` for a schema that is no object,
    refers to another document, is nested too deep or grows too large.
    """
    if not isinstance(schema, Mapping):
        raise SchemaRefusedError("its input schema is no JSON object")
    if schema.get("type", "object") != "object":
        raise SchemaRefusedError("its input schema is not of type object")
    written = _Writer(schema).write(schema, (), 0)
    assert isinstance(written, dict), "a schema that is an object stays one"
    return {**written, "type": "object", "properties": written.get("properties", {})}


class _Writer:
    """Writes a schema out; `root` is where its references lead to."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._parts = 0

    def write(self, value: Any, within: tuple[str, ...], depth: int, *, is_schema: bool = True) -> Any:
        """Return `value` with its references written out; `within` are those that it is written for."""
        self._parts += 1
        if self._parts > PARTS_MAX:
            raise SchemaRefusedError(f"its input schema has more than {PARTS_MAX} parts once its references are written out")
        if depth > DEPTH_MAX:
            raise SchemaRefusedError(f"its input schema is nested more than {DEPTH_MAX} deep")
        if isinstance(value, list):
            return [self.write(item, within, depth + 1, is_schema=is_schema) for item in value]
        if not isinstance(value, Mapping):
            return value
        if is_schema and any(name in value for name in ("$dynamicRef", "$recursiveRef")):
            raise SchemaRefusedError("its input schema has a dynamic reference")
        reference = value.get("$ref") if is_schema else None
        if isinstance(reference, str):
            return self._follow(reference, value, within, depth)
        return self._write_members(value, within, depth, is_schema=is_schema)

    def _write_members(self, value: Mapping[str, Any], within: tuple[str, ...], depth: int, *, is_schema: bool) -> Any:
        written = {}
        for name, inner in value.items():
            if is_schema and name in _LEFT_OUT:
                continue
            if is_schema and name in _NAMED and isinstance(inner, Mapping):
                written[name] = {key: self.write(item, within, depth + 1) for key, item in inner.items()}
            else:
                written[name] = self.write(inner, within, depth + 1, is_schema=is_schema and name not in _DATA)
        return written

    def _follow(self, reference: str, value: Mapping[str, Any], within: tuple[str, ...], depth: int) -> Any:
        beside = {name: inner for name, inner in value.items() if name != "$ref"}
        target = {} if reference in within else self.write(self._resolve(reference), (*within, reference), depth + 1)
        rest = self._write_members(beside, within, depth, is_schema=True)
        return {**target, **rest} if isinstance(target, Mapping) else target

    def _resolve(self, reference: str) -> Any:
        if not reference.startswith("#/") and reference != "#":
            raise SchemaRefusedError("its input schema refers to another document, which nobody fetches")
        value: Any = self._root
        for part in reference.split("/")[1:]:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if not isinstance(value, Mapping) or name not in value:
                raise SchemaRefusedError("its input schema refers to a part that it does not have")
            value = value[name]
        return value
