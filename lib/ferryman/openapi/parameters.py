"""Parameters: what an operation accepts in its path, its query, its headers and its body (that of an object by its fields)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ferryman.declared.headers import find_name_problem
from ferryman.domain.http.headers import is_identity_header
from ferryman.domain.http.parts import is_part_media, is_part_name
from ferryman.domain.http.request import BodyType
from ferryman.domain.tools.declared import Style
from ferryman.openapi.context import ImportContext
from ferryman.openapi.references import Node, References
from ferryman.openapi.schemas import Schemas, SchemaView
from ferryman.openapi.values import Notes, UnsupportedOperationError, is_plain, list_members, to_line, to_mapping

PARAMETERS_READ_MAX = 300
WIRE_CHARACTERS_MAX = 128

PLACES = ("path", "query", "header", "cookie")
_IGNORED_HEADERS = ("accept", "content-type", "authorization")
"""Parameters of these names are ignored (OpenAPI 3.1, 4.8.12.2.1): media types and security define them."""

_STYLES = {"form": Style.COMMA, "simple": Style.COMMA, "spaceDelimited": Style.SPACE, "pipeDelimited": Style.PIPE}
_DEFAULT_STYLES = {"path": "simple", "header": "simple", "query": "form", "form": "form"}
_BRACED = re.compile(r"\{([^{}]*)\}")
_TEXT = Node({"type": "string"}, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """An argument of the model: `wire` is its name in `place` (path, query, header or body), `schema` what it may be.

    `media` is the media type of its part in a multipart body, `is_file` says that the part has a file name. In the place
    `filename` it is the name of the file in the part `wire`.
    """

    wire: str
    place: str
    schema: Node
    required: bool
    style: Style = Style.REPEAT
    description: str = ""
    media: str | None = None
    is_file: bool = False


def list_parameters(references: References, *lists: Node) -> list[Node]:
    """Return the parameters in an operation's `lists`; a later one replaces one of the same name and place."""
    parameters: dict[tuple[str, str], Node] = {}
    for nodes in lists:
        for item in nodes.items(PARAMETERS_READ_MAX):
            node = references.follow(item)
            if node is None:
                target = to_line(item.fields.get("$ref"), 80)
                raise UnsupportedOperationError(f"has a parameter that refers to {target}, which is missing")
            name, place = node.fields.get("name"), node.fields.get("in")
            if isinstance(name, str) and isinstance(place, str):
                parameters[name, place] = node
        if isinstance(nodes.value, list) and len(nodes.value) > PARAMETERS_READ_MAX:
            raise UnsupportedOperationError(f"has more than {PARAMETERS_READ_MAX} parameters")
    return list(parameters.values())


def list_arguments(nodes: list[Node], path: str, notes: Notes) -> Iterator[Argument]:
    """Yield the arguments of an operation at `path`: those that `nodes` declare, and those that only the path names."""
    in_path = list(dict.fromkeys(_BRACED.findall(path)))
    in_query = set(_BRACED.findall(path.partition("?")[2])) - set(_BRACED.findall(path.partition("?")[0]))
    declared = set()
    for node in nodes:
        wire, place = node.value["name"], node.value["in"]
        required = node.value.get("required") is True or place == "path"
        if place == "header" and wire.lower() in _IGNORED_HEADERS:
            continue
        if place == "path" and wire not in in_path:
            notes.add("declares a path parameter that its path does not have: it is left out")
        elif place not in PLACES:
            notes.add(f"has a parameter in {to_line(place, 32)!r}, which is not a place: it is left out")
        elif place == "query" and wire in in_query:
            # The path has a query with its placeholder: it is filled there.
            declared.add(wire)
            yield _read_argument(node, "path", required=True)
        elif (problem := _find_problem(wire, place)) is None:
            declared.add(wire)
            yield _read_argument(node, place, required=required)
        elif required:
            raise UnsupportedOperationError(problem)
        else:
            notes.add(f"{problem}: it is left out")
    for wire in in_path:
        if wire not in declared:
            notes.add("names a parameter in its path that it does not declare: it is taken for a text")
            yield Argument(wire=wire, place="path", schema=_TEXT, required=True)


def _find_problem(wire: str, place: str) -> str | None:
    """Return why a parameter cannot be sent, or None."""
    if place == "cookie":
        return "takes a cookie, which is not sent"
    if place == "header" and (problem := find_name_problem(wire)) is not None:
        return f"has the header {to_line(wire, 64)}, which {problem}"
    if place == "header" and is_identity_header(wire):
        return f"has the header {to_line(wire, 64)}, which tells a service who asks: the model may not decide it"
    return None if is_name(wire) else "has a parameter whose name cannot be sent as it is"


def is_name(wire: str) -> bool:
    """Say whether a name can be sent as it is, and is not read as a template."""
    return is_plain(wire, WIRE_CHARACTERS_MAX) and "{{" not in wire


def _read_argument(node: Node, place: str, *, required: bool) -> Argument:
    value: Mapping[str, Any] = node.value
    description = to_line(value.get("description"), 300)
    schema, style = Node(value.get("schema", _TEXT.value), node.uri), Style.REPEAT
    if "schema" not in value and (content := list(list_members(value.get("content"), 1))):
        # The value is a document of its own media type within the parameter.
        description = f"{description} A text of {to_line(content[0][0], 64)}.".lstrip()
    else:
        style = read_style(value, place)
    return Argument(wire=value["name"], place=place, schema=schema, required=required, style=style, description=description)


def read_style(value: Mapping[str, Any], place: str) -> Style:
    """Return how lists and objects are written, by a parameter or by the encoding of a form (OpenAPI 3.1, 4.8.12.3)."""
    style = value.get("style", _DEFAULT_STYLES[place])
    if style == "deepObject":
        return Style.DEEP
    if not isinstance(style, str) or style not in _STYLES or (place == "path" and style != "simple"):
        raise UnsupportedOperationError(f"has a parameter of the style {to_line(style, 32)!r}, which is not supported")
    exploded = value.get("explode", style == "form")
    return Style.REPEAT if exploded is True and place != "path" and style != "simple" else _STYLES[style]


MEDIA_READ_MAX = 50
FILENAME = "file.txt"
"""What a file is called where the model does not say it."""

_OF_FILE, _OF_FILES = "The text of the file.", "The texts of the files."
_TEXTUAL = ("text/plain", "application/json")
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
OCTETS = "application/octet-stream"
_BODY_TYPES = {FORM: BodyType.FORM, MULTIPART: BodyType.MULTIPART}
_JSON = re.compile(r"application/[!#$&^_.+a-z0-9-]{0,100}\+json", re.ASCII | re.IGNORECASE)
_ANY_MEDIA = ("*/*", "application/*", "text/json")
_PREFERRED = (JSON, "application/merge-patch+json")
_ONLY = "which is not sent: only JSON, forms and multipart/form-data are"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBody:
    """An object of `arguments`, or where it is `whole` the only one of them, as it is.

    `media` is the media type where it is not the usual one of the body's type.
    """

    arguments: tuple[Argument, ...]
    whole: bool
    body_type: BodyType = BodyType.JSON
    media: str | None = None


def read_body(context: ImportContext, node: Node) -> RequestBody:
    """Return the request body at `node`. Raise `UnsupportedOperationError`."""
    body = context.references.follow(node)
    if body is None:
        target = to_line(node.fields.get("$ref"), 80)
        raise UnsupportedOperationError(f"has a body that refers to {target}, which is missing")
    members = list_members(body.fields.get("content"), MEDIA_READ_MAX)
    # without parameters such as charset
    content = {name[:200].partition(";")[0].strip().lower(): to_mapping(value) for name, value in members}
    declared, media = _choose_media(content)
    schema = Node(content[declared].get("schema", True), body.uri)
    view = context.schemas.view(schema)
    optional = body.fields.get("required") is False
    body_type, sent_media = _BODY_TYPES.get(media, BodyType.JSON), None if media == JSON or media in _BODY_TYPES else media
    if not (media == FORM or (media == MULTIPART and view.properties) or _is_flat(view, context.schemas)):
        description = to_line(body.fields.get("description"), 300)
        whole = Argument(wire="body", place="body", schema=schema, required=not optional, description=description)
        return RequestBody(arguments=(whole,), whole=True, body_type=body_type, media=sent_media)
    encodings = to_mapping(content[declared].get("encoding"))
    return RequestBody(
        arguments=tuple(_list_fields(view, context.schemas, body_type, encodings, optional=optional)),
        whole=False,
        body_type=body_type,
        media=sent_media,
    )


def _choose_media(content: Mapping[str, Any]) -> tuple[str, str]:
    """Return the media type whose schema is read, and the one that is sent."""
    json_types = [*(name for name in _PREFERRED if name in content), *(name for name in content if _JSON.fullmatch(name))]
    for media in (*json_types, FORM, MULTIPART):
        if media in content:
            return media, media
    for media in _ANY_MEDIA:
        if media in content:
            return media, JSON
    if not content:
        raise UnsupportedOperationError("has a body without a media type")
    raise UnsupportedOperationError(f"takes {', '.join(to_line(media, 64) for media in list(content)[:3])}, {_ONLY}")


def _is_flat(view: SchemaView, schemas: Schemas) -> bool:
    """Say whether it is an object whose fields describe all of it: no alternative adds anything of its own."""
    if not view.properties or view.types not in (["object"], ["object", "null"]) or view.recursive:
        return False
    alternatives = [schemas.view(node, view.through) for node in view.alternatives]
    return not any(inner.properties or inner.keywords or inner.recursive for inner in alternatives)


def _list_fields(
    view: SchemaView, schemas: Schemas, body_type: BodyType, encodings: Mapping[str, Any], *, optional: bool
) -> Iterator[Argument]:
    for name, child in schemas.list_properties(view):
        if not is_name(name) or (body_type is BodyType.MULTIPART and not is_part_name(name)):
            raise UnsupportedOperationError("has a body with a field whose name cannot be sent as it is")
        required, encoding = name in view.required and not optional, to_mapping(encodings.get(name))
        field = Argument(wire=name, place="body", schema=view.properties[name], required=required)
        if body_type is BodyType.MULTIPART:
            yield from _list_part(field, child, schemas, encoding)
        elif body_type is BodyType.FORM:
            if _is_file(child):
                raise UnsupportedOperationError("takes a file in a form that has none: only multipart/form-data has files")
            # OpenAPI does not define how a form has objects; brackets are what servers read.
            is_deep = "object" in child.types and "style" not in encoding
            yield replace(field, style=Style.DEEP if is_deep else read_style(encoding, "form"))
        else:
            yield field


def _list_part(field: Argument, view: SchemaView, schemas: Schemas, encoding: Mapping[str, Any]) -> Iterator[Argument]:
    """Yield the arguments of one part: its content, and of a file its name too. A file is made of a text."""
    declared = to_line(encoding.get("contentType"), 200).partition(",")[0].strip()
    media = declared if is_part_media(declared) and "*" not in declared else None
    items = schemas.view(view.keywords["items"], view.through) if "array" in view.types and "items" in view.keywords else None
    is_other = media is not None and not media.lower().startswith(_TEXTUAL)
    if not (is_other or _is_file(view) or (items is not None and _is_file(items))):
        style = read_style(encoding, "form") if "style" in encoding or "explode" in encoding else Style.REPEAT
        yield replace(field, style=style, media=media)
        return
    schema: dict[str, Any] = {"type": "string"} if items is None else {"type": "array", "items": {"type": "string"}}
    description = f"{to_line(view.get('description'), 200)} {_OF_FILE if items is None else _OF_FILES}".lstrip()
    yield replace(field, schema=Node(schema, ""), description=description, media=media or OCTETS, is_file=True)
    if items is None:
        name_of_file = f"The name of the file in {to_line(field.wire, 64)}. Default: {json.dumps(FILENAME)}."
        yield Argument(wire=field.wire, place="filename", schema=_TEXT, required=False, description=name_of_file)


def _is_file(view: SchemaView) -> bool:
    media = view.get("contentMediaType")
    is_other = isinstance(media, str) and not media.lower().startswith(_TEXTUAL)
    return is_other or view.get("format") == "binary" or view.get("type") == "file"
