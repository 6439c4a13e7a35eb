"""Schemas: a document's schemas as the model is shown them, bounded, without references, and never stricter than they were."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.openapi.notes import Notes
from ferryman.openapi.references import Address, Node, References
from ferryman.openapi.values import items, members, number, plain, scalar, text, texts

DEPTH_MAX = 8
PARTS_MAX = 32
"""A schema with all that its `$ref` and `allOf` join to it."""

PROPERTIES_MAX = 200
ENUM_MAX = 100
ALTERNATIVES_MAX = 20
NAME_CHARACTERS_MAX = 128
DESCRIPTION_CHARACTERS_MAX = 300
STUB_CHARACTERS_MAX = 80
"""The description of what is not shown any deeper."""

SCHEMA_BYTES_MAX = 16_384
"""The schemas of one tool, as JSON."""

SCHEMAS_BYTES_MAX = 8_388_608
"""Those of all tools together: each is held against the schema of schemas, at some seconds for a megabyte."""

_ROOM_MIN = 128
"""Bytes left for which no schema is looked into any more."""

NODES_MAX = 400_000
"""Schemas looked at for one document; GitHub's 1,223 operations take about 60,000."""

SHORT = 10
"""So many properties, or values of an enum, are as much work as one schema more."""

_TYPES = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))
_LIMITS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_TAKEN = (
    "type",
    "enum",
    "const",
    "format",
    "items",
    "anyOf",
    "oneOf",
    "additionalProperties",
    "nullable",
    "readOnly",
    "default",
)
_FIRST = (*_TAKEN, *_LIMITS, "exclusiveMinimum", "exclusiveMaximum", "description", "title")


@dataclass(slots=True)
class View:
    """A schema with its `$ref` followed and its `allOf` joined. Of what is said twice, the outermost holds.

    `through` are the addresses it came through: what refers to one of them again is recursive. `never` is the schema `false`.
    """

    words: dict[str, Node] = field(default_factory=dict)
    properties: dict[str, Node] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    through: frozenset[Address] = frozenset()
    parts: int = 0
    never: bool = False
    recursive: bool = False

    def word(self, name: str) -> Any:
        """What the keyword `name` says, or None."""
        node = self.words.get(name)
        return None if node is None else node.value

    @property
    def types(self) -> list[str]:
        """The types it admits; none means any."""
        said = self.word("type")
        found = [each for each in ([said] if isinstance(said, str) else texts(said, len(_TYPES))) if each in _TYPES]
        if not found and self.word("const") is None and not self.alternatives:
            found = ["object"] if self.properties else ["array"] if "items" in self.words else []
        if found and self.word("nullable") is True and "null" not in found:
            found.append("null")
        return list(dict.fromkeys(found))

    @property
    def alternatives(self) -> list[Node]:
        """What its `anyOf` or `oneOf` lists, one more than is shown where there are too many."""
        node = self.words.get("anyOf") or self.words.get("oneOf")
        return [] if node is None else [Node(each, node.uri) for each in items(node.value, ALTERNATIVES_MAX + 1)]


class Schemas:
    """The schemas of one import, looked at within a budget of nodes."""

    def __init__(self, references: References, notes: Notes) -> None:
        self._references = references
        self._notes = notes
        self.left = NODES_MAX
        self.room = SCHEMAS_BYTES_MAX

    def view(self, node: Node, through: frozenset[Address] = frozenset()) -> View:
        """`node` with what it refers to and what it is all of."""
        view = View(through=through)
        pending = deque([node])
        while pending and view.parts < PARTS_MAX and self.left > 0:
            part = pending.popleft()
            view.parts += 1
            self.left -= 1
            view.never = view.never or part.value is False
            if not isinstance(part.value, dict):
                continue
            for name in _FIRST:
                if name in part.value:
                    view.words.setdefault(name, Node(part.value[name], part.uri))
            properties = dict(members(part.value.get("properties"), PROPERTIES_MAX + 1))
            for name, each in properties.items():
                view.properties.setdefault(name, Node(each, part.uri))
            self.left -= (len(properties) + len(items(part.value.get("enum"), ENUM_MAX))) // SHORT
            view.required.update(texts(part.value.get("required"), PROPERTIES_MAX))
            # OpenAPI 3.0 ignores what stands beside a `$ref`; documents that have something there mean it all the same.
            if isinstance(reference := part.value.get("$ref"), str):
                pending.extend(self._target(reference, part.uri, view))
            pending.extend(Node(each, part.uri) for each in items(part.value.get("allOf"), PARTS_MAX))
        if pending:
            self._notes.add("a schema is all of too many others: some are left out")
        return view

    def _target(self, reference: str, uri: str, view: View) -> Iterator[Node]:
        address = self._references.address(reference, uri)
        found = None if address is None else self._references.at(address)
        if address is None or found is None:
            self._notes.add(f"refers to {text(reference, 80)}, which is not there: anything is accepted in its place")
        elif address in view.through:
            view.recursive = True
            if isinstance(found.value, dict) and (found.value.get("type") == "object" or "properties" in found.value):
                view.words.setdefault("type", Node("object", uri))
        else:
            view.through |= {address}
            yield found

    def shown(self, views: Mapping[str, View]) -> dict[str, dict[str, Any]]:
        """The schema of each, breadth first: what is near the top is shown whole, and what is deeper, or more than
        `SCHEMA_BYTES_MAX` have room for, is shown as anything, with its description."""
        shown: dict[str, dict[str, Any]] = {name: {} for name in views}
        queue = deque((view, shown[name], 0) for name, view in views.items())
        room = given = min(SCHEMA_BYTES_MAX, self.room)
        if room < SCHEMA_BYTES_MAX:
            self._notes.add(
                f"the document has schemas of more than {SCHEMAS_BYTES_MAX} bytes: later ones are shown as anything"
            )
        while queue:
            view, slot, depth = queue.popleft()
            if view.recursive:
                self._notes.add("has a recursive schema: where it begins again, it is shown as anything")
            if self.left <= 0:
                self._notes.add(f"the document has more than {NODES_MAX} schemas: later ones are shown as anything")
                continue
            said, inner = self._said(view) if room > _ROOM_MIN else (_stub(view), [])
            if depth == DEPTH_MAX and inner:
                said, inner = _stub(view), []
                self._notes.add(f"has a schema deeper than {DEPTH_MAX}: what is deeper is shown as anything")
            if (size := len(json.dumps(said))) > room:
                said, inner = _stub(view), []
                size = len(json.dumps(said))
                self._notes.add(f"has schemas of more than {SCHEMA_BYTES_MAX} bytes: what is deepest is shown as anything")
            if size <= room:
                room -= size
                slot.update(said)
                queue.extend((child, place, depth + 1) for child, place in inner)
        self.room -= given - room
        return shown

    def _said(self, view: View) -> tuple[dict[str, Any], list[tuple[View, dict[str, Any]]]]:
        # What a schema says itself, and its inner schemas with the places that are to be filled.
        inner: list[tuple[View, dict[str, Any]]] = []

        def place(child: View) -> dict[str, Any]:
            inner.append((child, {}))
            return inner[-1][1]

        said = _words(view)
        if view.properties:
            known = {name: place(child) for name, child in self.given(view)}
            said["properties"] = known
            if required := sorted(view.required & known.keys()):
                said["required"] = required
            whole = view.parts == 1 and len(known) == len(view.properties)
            if whole and view.word("additionalProperties") is False:
                said["additionalProperties"] = False
        elif isinstance(view.word("additionalProperties"), dict):
            said["additionalProperties"] = place(self.view(view.words["additionalProperties"], view.through))
        if isinstance(view.word("items"), dict):
            said["items"] = place(self.view(view.words["items"], view.through))
        alternatives = [self.view(each, view.through) for each in view.alternatives]
        # Fewer alternatives than there are would refuse what is right, and one of which nothing is shown admits everything.
        # They are shown as anyOf: where they are cut, a value fits more than one.
        telling = all(each.words or each.properties or each.never for each in alternatives)
        if 0 < len(alternatives) <= ALTERNATIVES_MAX and telling:
            said["anyOf"] = [place(each) for each in alternatives if not each.never] or [{}]
        return said, inner

    def given(self, view: View) -> Iterator[tuple[str, View]]:
        """The properties that a request may have: neither read-only nor `false`, `PROPERTIES_MAX` at most, required first."""
        ordered = sorted(view.properties.items(), key=lambda each: each[0] not in view.required)
        for name, node in ordered[:PROPERTIES_MAX]:
            if plain(name, NAME_CHARACTERS_MAX):
                child = self.view(node, view.through)
                if not child.never and child.word("readOnly") is not True:
                    yield name, child


def described(view: View, characters: int) -> str:
    """The description of a schema, and its default: that is the other end's to fill in, so it is told rather than set."""
    said = text(view.word("description"), characters) or text(view.word("title"), characters)
    default = view.word("default")
    if "default" in view.words and default is not None and scalar(default) and len(shown := json.dumps(default)) <= 60:
        said = f"{said} Default: {shown}.".lstrip()
    return said


def _words(view: View) -> dict[str, Any]:
    types = view.types
    said: dict[str, Any] = {"type": types[0] if len(types) == 1 else types} if types else {}
    if description := described(view, DESCRIPTION_CHARACTERS_MAX):
        said["description"] = description
    if plain(view.word("format"), 32):
        said["format"] = view.word("format")
    said |= _choice(view)
    said |= {name: view.word(name) for name in _LIMITS if _limit(name, view.word(name))}
    for name, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        # True in OpenAPI 3.0 and Swagger 2.0, a number in 3.1.
        if view.word(name) is True and limit in said:
            said[name] = said.pop(limit)
        elif number(view.word(name)):
            said[name] = view.word(name)
    return said


def _limit(name: str, value: Any) -> bool:
    return number(value) if name in ("minimum", "maximum") else number(value) and isinstance(value, int) and value >= 0


def _choice(view: View) -> dict[str, Any]:
    if "const" in view.words:
        return {"const": view.word("const")} if scalar(view.word("const")) else {}
    said = items(view.word("enum"), ENUM_MAX + 1)
    if not 0 < len(said) <= ENUM_MAX or not all(scalar(each) for each in said):
        return {}
    said = [each for index, each in enumerate(said) if each not in said[:index]]
    return {"enum": [*said, None] if view.word("nullable") is True and None not in said else said}


def _stub(view: View) -> dict[str, Any]:
    described = text(view.word("description"), STUB_CHARACTERS_MAX)
    return {"description": described} if described else {}
