"""The surface: every operation of the API, from its own description, and the places in it where an id may be written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]

PUBLIC = frozenset({"integration_id", "client_id", "message_number", "seq"})
"""Parameters and fields that end like an id, and name what is nobody's: entries of the catalogue, applications at services, and
places in a conversation or an execution that is named beside them."""

NAMED: Mapping[str, str] = {
    **{kind: kind for kind in ("task", "agent", "workspace", "person", "conversation", "execution")},
    **dict.fromkeys(("conversation_id", "conversationId"), "chat"),
    "id": "tool",
    "key": "file",
}
"""Fields and filters that hold an id without saying so, and the kind of what it belongs to."""

NAMES: Mapping[str, str] = {"/credentials/{name}": "credential", "/tools/cluster/{name}": "cluster", "/files/{key}": "file"}
"""Paths that end in a name which its owner chose, and the kind of what has it."""

HEADERS: Mapping[str, str] = {"ferryman-workspace": "workspace"}
"""Headers that hold an id."""

_DEPTH_MAX = 4
"""Of fields within fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an id is written: `where` is path, query, header or body; `name` is the parameter's, or the path of the field."""

    where: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A method on a path, and the places for ids in it.

    `body` is one that is accepted (None: it takes none). It may have `pages`, take an idempotency key (`keyed`), and `filters`,
    the names of its query, of which those in `choices` have one of a few values.
    """

    method: str
    path: str
    places: tuple[Place, ...]
    body: Any
    pages: bool
    keyed: bool
    filters: tuple[str, ...]
    choices: Mapping[str, tuple[str, ...]]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def list_operations(document: Document) -> list[Operation]:
    """Return every operation of an OpenAPI document, in its order."""
    return [
        _read(document, method.upper(), path, described)
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    ]


def _read(document: Document, method: str, path: str, described: Mapping[str, Any]) -> Operation:
    parameters = {(item["in"], item["name"].lower()) for item in described.get("parameters", ())}
    content = described.get("requestBody", {}).get("content", {}).get("application/json")
    places = [Place(where="path", name=name, kind=_kind_in_path(path, name)) for name in re.findall(r"{(\w+)}", path)]
    for where, name in sorted(parameters):
        kind = {"query": find_kind(name), "header": HEADERS.get(name)}.get(where)
        if kind:
            places.append(Place(where=where, name=name, kind=kind))
    if content is not None:
        places += [Place(where="body", name=name, kind=kind) for name, kind in _find_fields(document, content["schema"])]
    return Operation(
        method=method,
        path=path,
        places=tuple(place for place in places if place.kind),
        body=None if content is None else content.get("example", build_value(document, content["schema"])),
        pages=("query", "cursor") in parameters,
        keyed=("header", "idempotency-key") in parameters,
        filters=tuple(sorted(name for where, name in parameters if where == "query")),
        choices=_find_choices(document, described),
    )


def _find_choices(document: Document, described: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the values of the parameters in the query that have only a few."""
    choices = {}
    for item in described.get("parameters", ()):
        schema = next(_list_options(document, item["schema"]), {})
        values = ("true", "false") if schema.get("type") == "boolean" else tuple(schema.get("enum", ()))
        if item["in"] == "query" and values:
            choices[item["name"]] = values
    return choices


def _kind_in_path(path: str, name: str) -> str:
    """Return the kind of what a parameter of a path names; "" where everybody may see it."""
    if name in PUBLIC:
        return ""
    return next(
        (kind for end, kind in NAMES.items() if path.endswith(end) and end.endswith(f"{{{name}}}")), find_kind(name) or name
    )


def find_kind(name: str) -> str | None:
    """Return the kind of what a field or parameter of this name belongs to; None where it holds no id."""
    if name in PUBLIC:
        return None
    return NAMED.get(name) or (name.removesuffix("_id") if name.endswith("_id") else None)


def _find_fields(document: Document, schema: Mapping[str, Any], path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the fields of a body that hold an id, as a path of names, and the kind of it."""
    for option in _list_options(document, schema):
        for name, field in option.get("properties", {}).items() if depth < _DEPTH_MAX else ():
            where = f"{path}.{name}" if path else name
            types = {inner.get("type") for inner in _list_options(document, field)}
            if "string" in types and (kind := find_kind(name)):
                yield where, kind
            yield from _find_fields(document, field, where, depth + 1)


def _list_options(document: Document, schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a schema, or those that it chooses from, with references followed."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if choices := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        for choice in choices:
            yield from _list_options(document, choice)
    else:
        yield schema


def build_value(document: Document, schema: Mapping[str, Any]) -> Any:
    """Return a value of a schema: its example or default where it has one, and of an object what it must have."""
    resolved = next(_list_options(document, schema), {})
    for known in (schema, resolved):
        if "example" in known:
            return known["example"]
        if known.get("examples"):
            return known["examples"][0]
    if "const" in resolved or resolved.get("enum"):
        return resolved.get("const", (resolved.get("enum") or [None])[0])
    match resolved.get("type"):
        case "object":
            properties = resolved.get("properties", {})
            return {name: build_value(document, properties.get(name, {})) for name in resolved.get("required", ())}
        case "array":
            return [build_value(document, resolved["items"])] * resolved.get("minItems", 0)
        case "integer" | "number":
            return resolved.get("minimum", 1)
        case "boolean":
            return True
        case _:
            return "x" * max(1, resolved.get("minLength", 1))
