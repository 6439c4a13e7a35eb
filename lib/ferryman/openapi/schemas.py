"""Schemas: a document's schemas as the model is shown them: bounded, without references, and never stricter than they are."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.declared.patterns import is_known
from ferryman.declared.schemas import find_faults
from ferryman.openapi.references import Node, Pointer, References
from ferryman.openapi.values import Notes, is_number, is_plain, is_scalar, list_items, list_members, list_texts, to_line

DEPTH_MAX = 8
PARTS_MAX = 32
"""A schema with all that its `$ref` and `allOf` join to it."""

PROPERTIES_MAX = 200
ENUM_MAX = 100
ALTERNATIVES_MAX = 20
NAME_CHARACTERS_MAX = 128
DESCRIPTION_CHARACTERS_MAX = 300
STUB_CHARACTERS_MAX = 80
"""The description of a schema that is not shown any deeper."""

NODES_PER_PATTERN = 10
"""So many schemas are as much work as a pattern."""

SCHEMA_BYTES_MAX = 16_384
"""The schemas of one tool, as JSON."""

SCHEMAS_BYTES_MAX = 8_388_608
"""Those of all tools together: each is checked against the schema of schemas, which takes some seconds per megabyte."""

_BYTES_MIN = 128
"""With fewer bytes left, no schema is looked into."""

NODES_MAX = 400_000
"""Schemas read in one document; GitHub's 1,223 operations take about 60,000."""

NAMES_PER_NODE = 10
"""So many properties, or values of an enum, are as much work as one schema more."""

_TYPES = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))
_LIMITS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_KEYWORDS = (
    *("type", "enum", "const", "format", "items", "anyOf", "oneOf", "additionalProperties", "nullable", "readOnly", "default"),
    *("contentMediaType", "pattern"),
    *(*_LIMITS, "exclusiveMinimum", "exclusiveMaximum", "description", "title"),
)


@dataclass(slots=True)
class SchemaView:
    """A schema with its `$ref` followed and its `allOf` joined. Of what is defined twice, the outermost applies.

    `through` are the references on the way here: a schema that refers to one of them again is recursive. `never` is the schema
    `false`.
    """

    keywords: dict[str, Node] = field(default_factory=dict)
    properties: dict[str, Node] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    through: frozenset[Pointer] = frozenset()
    parts: int = 0
    never: bool = False
    recursive: bool = False

    def get(self, keyword: str) -> Any:
        """Return the value of `keyword`, or None."""
        node = self.keywords.get(keyword)
        return None if node is None else node.value

    @property
    def types(self) -> list[str]:
        """The types it admits; none means any."""
        value = self.get("type")
        types = [name for name in ([value] if isinstance(value, str) else list_texts(value, len(_TYPES))) if name in _TYPES]
        if not types and self.get("const") is None and not self.alternatives:
            types = ["object"] if self.properties else ["array"] if "items" in self.keywords else []
        if types and self.get("nullable") is True:
            types.append("null")
        return list(dict.fromkeys(types))

    @property
    def alternatives(self) -> list[Node]:
        """What its `anyOf` or `oneOf` lists, one more than is shown where there are too many."""
        node = self.keywords.get("anyOf") or self.keywords.get("oneOf")
        return [] if node is None else node.items(ALTERNATIVES_MAX + 1)


class Schemas:
    """The schemas of one import, read within a budget of nodes, and shown within one of bytes."""

    def __init__(self, references: References, notes: Notes) -> None:
        self._references = references
        self._notes = notes
        self.nodes_left = NODES_MAX
        self.bytes_left = SCHEMAS_BYTES_MAX

    def view(self, node: Node, through: frozenset[Pointer] = frozenset()) -> SchemaView:
        """Return `node` joined with its `$ref` and its `allOf`."""
        view = SchemaView(through=through)
        pending = deque([node])
        while pending and view.parts < PARTS_MAX and self.nodes_left > 0:
            part = pending.popleft()
            view.parts += 1
            self.nodes_left -= 1
            view.never = view.never or part.value is False
            if not isinstance(part.value, dict):
                continue
            for name in _KEYWORDS:
                if name in part.value:
                    view.keywords.setdefault(name, part.child(name))
            properties = dict(list_members(part.value.get("properties"), PROPERTIES_MAX + 1))
            for name, value in properties.items():
                view.properties.setdefault(name, Node(value, part.uri))
            self.nodes_left -= (len(properties) + len(list_items(part.value.get("enum"), ENUM_MAX))) // NAMES_PER_NODE
            view.required.update(list_texts(part.value.get("required"), PROPERTIES_MAX))
            # OpenAPI 3.0 ignores what is beside a `$ref`; documents that have something there mean it all the same.
            if isinstance(reference := part.value.get("$ref"), str):
                pending.extend(self._resolve(reference, part.uri, view))
            pending.extend(part.child("allOf").items(PARTS_MAX))
        if pending:
            self._notes.add("a schema is all of too many others: some are left out")
        return view

    def _resolve(self, reference: str, uri: str, view: SchemaView) -> Iterator[Node]:
        pointer = self._references.resolve(reference, uri)
        target = None if pointer is None else self._references.find(pointer)
        if pointer is None or target is None:
            self._notes.add(f"refers to {to_line(reference, 80)}, which is missing: anything is accepted in its place")
        elif pointer in view.through:
            view.recursive = True
            if target.fields.get("type") == "object" or "properties" in target.fields:
                view.keywords.setdefault("type", Node("object", uri))
        else:
            view.through |= {pointer}
            yield target

    def show(self, views: Mapping[str, SchemaView]) -> dict[str, dict[str, Any]]:
        """Return the schema of each view, breadth first.

        What is near the top is shown whole; what is deeper, or does not fit into `SCHEMA_BYTES_MAX`, is shown as anything, with
        its description.
        """
        schemas: dict[str, dict[str, Any]] = {name: {} for name in views}
        queue = deque((view, schemas[name], 0) for name, view in views.items())
        room = budget = min(SCHEMA_BYTES_MAX, self.bytes_left)
        if budget < SCHEMA_BYTES_MAX:
            limit = f"the document has schemas of more than {SCHEMAS_BYTES_MAX} bytes"
            self._notes.add(f"{limit}: later ones are shown as anything")
        while queue:
            view, slot, depth = queue.popleft()
            if view.recursive:
                self._notes.add("has a recursive schema: where it begins again, it is shown as anything")
            if self.nodes_left <= 0:
                self._notes.add(f"the document has more than {NODES_MAX} schemas: later ones are shown as anything")
                continue
            schema, inner = self._show(view) if room > _BYTES_MIN else (_show_stub(view), [])
            if depth == DEPTH_MAX and inner:
                schema, inner = _show_stub(view), []
                self._notes.add(f"has a schema deeper than {DEPTH_MAX}: what is deeper is shown as anything")
            if (size := len(json.dumps(schema))) > room:
                schema, inner = _show_stub(view), []
                size = len(json.dumps(schema))
                self._notes.add(f"has schemas of more than {SCHEMA_BYTES_MAX} bytes: what is deepest is shown as anything")
            if size <= room:
                room -= size
                slot.update(schema)
                queue.extend((child, child_slot, depth + 1) for child, child_slot in inner)
        self.bytes_left -= budget - room
        return schemas

    def _show(self, view: SchemaView) -> tuple[dict[str, Any], list[tuple[SchemaView, dict[str, Any]]]]:
        """Return the schema itself, and the inner schemas with the slots that they are to fill."""
        inner: list[tuple[SchemaView, dict[str, Any]]] = []

        def add_slot(child: SchemaView) -> dict[str, Any]:
            inner.append((child, {}))
            return inner[-1][1]

        schema = _show_keywords(view)
        if isinstance(pattern := view.get("pattern"), str):
            self.nodes_left -= NODES_PER_PATTERN
            # between slashes it is JavaScript's, of which no schema knows: nothing would ever fit
            if is_known(pattern) and pattern.isprintable() and not pattern.startswith("/^"):
                schema["pattern"] = pattern
            else:
                self._notes.add("has a pattern that is not checked: it is too long, or needs more than linear time")
        if view.properties:
            properties = {name: add_slot(child) for name, child in self.list_properties(view)}
            schema["properties"] = properties
            if required := sorted(view.required & properties.keys()):
                schema["required"] = required
            complete = view.parts == 1 and len(properties) == len(view.properties)
            if complete and view.get("additionalProperties") is False:
                schema["additionalProperties"] = False
        for name in ("items",) if view.properties else ("additionalProperties", "items"):
            if isinstance(view.get(name), dict):
                schema[name] = add_slot(self.view(view.keywords[name], view.through))
        alternatives = [self.view(node, view.through) for node in view.alternatives]
        # Fewer alternatives than there are would refuse valid values, and one of which nothing is shown admits everything.
        # They are shown as anyOf: where they are cut, a value fits more than one.
        complete = all(child.keywords or child.properties or child.never for child in alternatives)
        if 0 < len(alternatives) <= ALTERNATIVES_MAX and complete:
            schema["anyOf"] = [add_slot(child) for child in alternatives if not child.never] or [{}]
        return schema, inner

    def list_properties(self, view: SchemaView) -> Iterator[tuple[str, SchemaView]]:
        """Yield the properties that a request may have: neither read-only nor `false`, at most `PROPERTIES_MAX`, required
        first."""
        ordered = sorted(view.properties.items(), key=lambda member: member[0] not in view.required)
        for name, node in ordered[:PROPERTIES_MAX]:
            if is_plain(name, NAME_CHARACTERS_MAX):
                child = self.view(node, view.through)
                if not child.never and child.get("readOnly") is not True:
                    yield name, child


def _describe(view: SchemaView) -> str:
    description = to_line(view.get("description"), DESCRIPTION_CHARACTERS_MAX)
    return description or to_line(view.get("title"), DESCRIPTION_CHARACTERS_MAX)


def drop_misfit(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter without a default that does not fit it; the other keywords are meant."""
    try:
        is_fit = "default" not in schema or not find_faults(schema, schema["default"])
    except (ArithmeticError, RecursionError):
        is_fit = False
    return schema if is_fit else {name: value for name, value in schema.items() if name != "default"}


def _show_keywords(view: SchemaView) -> dict[str, Any]:
    types = view.types
    schema: dict[str, Any] = {"type": types[0] if len(types) == 1 else types} if types else {}
    if description := _describe(view):
        schema["description"] = description
    if is_plain(view.get("format"), 32):
        schema["format"] = view.get("format")
    schema |= _show_choice(view)
    default = view.get("default")
    if default is not None and is_scalar(default):
        schema["default"] = default
    schema |= {name: view.get(name) for name in _LIMITS if _is_limit(name, view.get(name))}
    for name, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        # True in OpenAPI 3.0 and Swagger 2.0, a number in 3.1.
        if view.get(name) is True and limit in schema:
            schema[name] = schema.pop(limit)
        elif is_number(view.get(name)):
            schema[name] = view.get(name)
    return schema


def _is_limit(name: str, value: Any) -> bool:
    return is_number(value) and (name in ("minimum", "maximum") or (isinstance(value, int) and value >= 0))


def _show_choice(view: SchemaView) -> dict[str, Any]:
    if "const" in view.keywords:
        return {"const": view.get("const")} if is_scalar(view.get("const")) else {}
    values = list_items(view.get("enum"), ENUM_MAX + 1)
    if not 0 < len(values) <= ENUM_MAX or not all(is_scalar(value) for value in values):
        return {}
    values = [value for index, value in enumerate(values) if value not in values[:index]]
    return {"enum": [*values, None] if view.get("nullable") is True and None not in values else values}


def _show_stub(view: SchemaView) -> dict[str, Any]:
    description = to_line(view.get("description"), STUB_CHARACTERS_MAX)
    return {"description": description} if description else {}
