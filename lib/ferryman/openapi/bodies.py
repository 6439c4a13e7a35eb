"""Bodies: what an operation accepts in its body, field by field where it is an object."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.domain.http.request import BodyType
from ferryman.domain.tools.declared import Style
from ferryman.openapi.context import ImportContext
from ferryman.openapi.notes import UnsupportedOperationError
from ferryman.openapi.parameters import Argument, is_name, read_style
from ferryman.openapi.references import Node
from ferryman.openapi.schemas import Schemas, SchemaView
from ferryman.openapi.values import list_members, to_line, to_mapping

MEDIA_READ_MAX = 50
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
_JSON = re.compile(r"application/[!#$&^_.+a-z0-9-]{0,100}\+json", re.ASCII | re.IGNORECASE)
_ANY_MEDIA = ("*/*", "application/*", "text/json")
_PREFERRED = (JSON, "application/merge-patch+json")
_ONLY = "which is not sent: only JSON and forms are"


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
    if media != FORM and not _is_flat(view, context.schemas):
        description = to_line(body.fields.get("description"), 300)
        whole = Argument(wire="body", place="body", schema=schema, required=not optional, description=description)
        return RequestBody(arguments=(whole,), whole=True, media=None if media == JSON else media)
    encodings = to_mapping(content[declared].get("encoding")) if media == FORM else None
    return RequestBody(
        arguments=tuple(_list_fields(view, context.schemas, encodings, optional=optional)),
        whole=False,
        body_type=BodyType.FORM if media == FORM else BodyType.JSON,
        media=None if media in (JSON, FORM) else media,
    )


def _choose_media(content: Mapping[str, Any]) -> tuple[str, str]:
    """Return the media type whose schema is read, and the one that is sent."""
    json_types = [*(name for name in _PREFERRED if name in content), *(name for name in content if _JSON.fullmatch(name))]
    for media in (*json_types, FORM):
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
    view: SchemaView, schemas: Schemas, encodings: Mapping[str, Any] | None, *, optional: bool
) -> Iterator[Argument]:
    for name, child in schemas.list_properties(view):
        style = Style.REPEAT
        if not is_name(name):
            raise UnsupportedOperationError("has a body with a field whose name cannot be sent as it is")
        if encodings is not None:
            if child.get("format") == "binary" or child.get("type") == "file":
                raise UnsupportedOperationError(f"takes a file, {_ONLY}")
            encoding = to_mapping(encodings.get(name))
            # OpenAPI does not define how a form has objects; brackets are what servers read.
            style = Style.DEEP if "object" in child.types and "style" not in encoding else read_style(encoding, "form")
        required = name in view.required and not optional
        yield Argument(wire=name, place="body", schema=view.properties[name], required=required, style=style)
