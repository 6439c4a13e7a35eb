"""Headers that repeat arguments (`x-mcp-header`, 2026-07-28): which a tool's schema names, and how their values are written."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ferryman.domain.http.headers import normalize_header
from ferryman.domain.mcp_headers import ANNOTATION, BASE64_CLOSING, BASE64_OPENING, get_argument
from ferryman.tools.mcp.protocol.errors import UnwritableArgumentError

PREFIX = "Mcp-Param-"
PARAMETERS_MAX = 14
"""Headers that one tool may name: a request through the gate has 20 in all, of which four are the protocol's."""

INTEGER_MAX = 2**53 - 1
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,54}", re.ASCII)
_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?", re.ASCII)
_PRIMITIVE = frozenset(("string", "integer", "boolean"))
_NAMED_SCHEMAS = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
_VALUES = frozenset(("const", "default", "enum", "example", "examples"))

ParameterHeader = tuple[str, tuple[str, ...]]
"""The name of a header, after `Mcp-Param-`, and the names of the properties that lead to its argument."""


class InvalidAnnotationError(ValueError):
    """A schema whose `x-mcp-header` breaks the rules, so that its tool is not used; the text says which, and is our own."""


def read_parameter_headers(schema: Mapping[str, Any]) -> tuple[ParameterHeader, ...]:
    """Return the headers that a tool's input schema names. Raise `InvalidAnnotationError`."""
    headers, names = list[ParameterHeader](), set[str]()
    for node, path in _iterate_schemas(schema):
        if ANNOTATION not in node:
            continue
        name = node[ANNOTATION]
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise InvalidAnnotationError("x-mcp-header must be a token of HTTP of 1 to 54 characters")
        if not path:
            raise InvalidAnnotationError("x-mcp-header is at a place that no chain of properties leads to")
        if not _is_primitive(node.get("type")):
            raise InvalidAnnotationError("x-mcp-header is at a parameter that is no text, integer or boolean")
        if normalize_header(name) in names:
            raise InvalidAnnotationError("x-mcp-header names one header twice")
        names.add(normalize_header(name))
        headers.append((name, path))
    if len(headers) > PARAMETERS_MAX:
        raise InvalidAnnotationError(f"x-mcp-header names more than {PARAMETERS_MAX} headers")
    return tuple(headers)


def _iterate_schemas(schema: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], tuple[str, ...]]]:
    """Yield every schema in `schema` with the properties that lead to it: none where something else is on the way."""
    yield schema, ()
    stack: list[tuple[Mapping[str, Any], tuple[str, ...] | None]] = [(schema, ())]
    while stack:
        node, path = stack.pop()
        for keyword, value in node.items():
            if keyword in _VALUES:
                continue
            for name, inner in _list_schemas(keyword, value):
                reached = (*path, name) if path is not None and keyword == "properties" else None
                yield inner, reached or ()
                stack.append((inner, reached))


def _list_schemas(keyword: str, value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the schemas that a keyword has directly, with their names where it names them."""
    if isinstance(value, Mapping):
        if keyword in _NAMED_SCHEMAS:
            yield from ((name, inner) for name, inner in value.items() if isinstance(inner, Mapping))
        else:
            yield "", value
    elif isinstance(value, list):
        yield from (("", inner) for inner in value if isinstance(inner, Mapping))


def _is_primitive(kind: Any) -> bool:
    if isinstance(kind, list):
        names = {item for item in kind if isinstance(item, str)}
        return len(names) == len(kind) and _PRIMITIVE >= names - {"null"} != set()
    return isinstance(kind, str) and kind in _PRIMITIVE


def write_parameter_headers(headers: Sequence[ParameterHeader], arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that repeat `arguments`; what is absent or null has none.

    Raise `UnwritableArgumentError` for an argument that no header can have.
    """
    written = {}
    for name, path in headers:
        value = get_argument(arguments, path)
        if value is not None:
            written[f"{PREFIX}{name}"] = encode_value(_write_value(value, ".".join(path)))
    return written


def _write_value(value: Any, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and abs(value) <= INTEGER_MAX:
        return str(value)
    if isinstance(value, str):
        return value
    raise UnwritableArgumentError(
        f"the argument {where!r} must be a text, a boolean or an integer of 53 bits: the tool has it in a header"
    )


def encode_value(text: str) -> str:
    """Return a header's value: `text` itself, or Base64 with the sentinel where a header could not have it, or has another
    meaning for it."""
    if _PLAIN.fullmatch(text) and not (text.startswith(BASE64_OPENING) and text.endswith(BASE64_CLOSING)):
        return text
    return f"{BASE64_OPENING}{base64.b64encode(text.encode()).decode()}{BASE64_CLOSING}"
