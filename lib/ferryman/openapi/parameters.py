"""Parameters: what an operation takes in its path, its query and its headers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.declared.headers import find_name_problem
from ferryman.domain.http.identity_headers import is_identity_header
from ferryman.domain.tools.declared import Style
from ferryman.openapi.notes import Notes, UnsupportedOperationError
from ferryman.openapi.references import Node, References
from ferryman.openapi.values import items, mapping, members, plain, text

PARAMETERS_READ_MAX = 300
WIRE_CHARACTERS_MAX = 128

PLACES = ("path", "query", "header", "cookie")
_IGNORED_HEADERS = ("accept", "content-type", "authorization")
"""Parameters of these names are to be ignored (OpenAPI 3.1, 4.8.12.2.1): media types and security say them."""

_STYLES = {"form": Style.COMMA, "simple": Style.COMMA, "spaceDelimited": Style.SPACE, "pipeDelimited": Style.PIPE}
_DEFAULT_STYLES = {"path": "simple", "header": "simple", "query": "form", "form": "form"}
_BRACED = re.compile(r"\{([^{}]*)\}")
_ANY = {"type": "string"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """Something the model is to say: `wire` is its name in `place` (path, query, header or body), `schema` what it may be."""

    wire: str
    place: str
    schema: Node
    required: bool
    style: Style = Style.REPEAT
    description: str = ""


def listed(references: References, *lists: Node) -> list[Node]:
    """The parameters of an operation's `lists`, of which later ones go before those of the same name and place."""
    found: dict[tuple[str, str], Node] = {}
    for listing in lists:
        for each in items(listing.value, PARAMETERS_READ_MAX):
            node = references.follow(Node(each, listing.uri))
            if node is None:
                raise UnsupportedOperationError(f"has a parameter that refers to {_reference(each)}, which is not there")
            name, place = mapping(node.value).get("name"), mapping(node.value).get("in")
            if isinstance(name, str) and isinstance(place, str):
                found[name, place] = node
        if isinstance(listing.value, list) and len(listing.value) > PARAMETERS_READ_MAX:
            raise UnsupportedOperationError(f"has more than {PARAMETERS_READ_MAX} parameters")
    return list(found.values())


def _reference(value: Any) -> str:
    return text(mapping(value).get("$ref"), 80)


def arguments(nodes: list[Node], path: str, notes: Notes) -> Iterator[Argument]:
    """The arguments of an operation at `path`: those that `nodes` declare, and those that only the path names."""
    named = list(dict.fromkeys(_BRACED.findall(path)))
    in_query = set(_BRACED.findall(path.partition("?")[2])) - set(_BRACED.findall(path.partition("?")[0]))
    declared = set()
    for node in nodes:
        wire, place = node.value["name"], node.value["in"]
        required = node.value.get("required") is True or place == "path"
        if place == "cookie":
            _left_out(required, notes, "takes a cookie, which is not sent")
        elif place == "header" and wire.lower() in _IGNORED_HEADERS:
            continue
        elif place == "header" and (wrong := find_name_problem(wire)) is not None:
            _left_out(required, notes, f"has the header {text(wire, 64)}, which {wrong}")
        elif place == "header" and is_identity_header(wire):
            what = f"has the header {text(wire, 64)}, which tells a service who asks: it is not the model's to say"
            _left_out(required, notes, what)
        elif place == "path" and wire not in named:
            notes.add("declares a path parameter that its path does not have: it is left out")
        elif place == "query" and wire in in_query:
            # The path has a query that it stands in: it is filled there.
            declared.add(wire)
            yield _argument(node, "path", required=True)
        elif place in PLACES:
            if not plain(wire, WIRE_CHARACTERS_MAX) or "{{" in wire:
                _left_out(required, notes, "has a parameter whose name cannot be sent as it is")
                continue
            declared.add(wire)
            yield _argument(node, place, required=required)
        else:
            notes.add(f"has a parameter in {text(place, 32)!r}, which is nowhere: it is left out")
    for wire in named:
        if wire not in declared:
            notes.add("names a parameter in its path that it does not declare: it is taken for a text")
            yield Argument(wire=wire, place="path", schema=Node(_ANY, ""), required=True)


def _left_out(required: bool, notes: Notes, what: str) -> None:
    if required:
        raise UnsupportedOperationError(what)
    notes.add(f"{what}: it is left out")


def _argument(node: Node, place: str, *, required: bool) -> Argument:
    value: Mapping[str, Any] = node.value
    description = text(value.get("description"), 300)
    if "schema" not in value and (content := list(members(value.get("content"), 1))):
        # The value is a document of its own media type within the parameter.
        description = f"{description} A text of {text(content[0][0], 64)}.".lstrip()
        return Argument(wire=value["name"], place=place, schema=Node(_ANY, ""), required=required, description=description)
    return Argument(
        wire=value["name"],
        place=place,
        schema=Node(value.get("schema", _ANY), node.uri),
        required=required,
        style=style(value, place),
        description=description,
    )


def style(value: Mapping[str, Any], place: str) -> Style:
    """How lists and objects are written: what a parameter or a form's encoding says of it (OpenAPI 3.1, 4.8.12.3)."""
    default = _DEFAULT_STYLES[place]
    said = value.get("style", default)
    if said == "deepObject":
        return Style.DEEP
    if not isinstance(said, str) or said not in _STYLES or (place == "path" and said != "simple"):
        raise UnsupportedOperationError(f"has a parameter of the style {text(said, 32)!r}, which is not written here")
    exploded = value.get("explode", said == "form")
    return Style.REPEAT if exploded is True and place != "path" and said != "simple" else _STYLES[said]
